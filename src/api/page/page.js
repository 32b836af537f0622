/** Shows the host live. Text that comes from the service is only ever set as text. */
const byId = (id) => document.getElementById(id);
const stepNames = [
  'wait-for-eni',
  'read-metadata',
  'reserve-address',
  'prepare-sandbox',
  'clear-host-config',
  'connect-bridge',
  'move-eni',
  'configure-eni',
  'register-credentials',
  'start-dhcp',
];
/** Networks by task id, as last heard. */
const networks = new Map();
/** The newest attaches of which this page has heard, also of tasks that are gone since. */
let attaches = [];
let token = sessionStorage.getItem('token') ?? '';

class Unauthorized extends Error {}

/** An element with attributes and children; strings become text nodes. */
function make(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  element.append(...children.filter((child) => child !== null && child !== ''));
  return element;
}

async function call(path, headers = {}) {
  const authorization = token === '' ? {} : { authorization: `Bearer ${token}` };
  const response = await fetch(path, { headers: { ...authorization, ...headers }, cache: 'no-store' });
  if (response.status === 401) throw new Unauthorized();
  if (!response.ok) throw new Error(`${path} answered ${response.status}`);
  return response;
}

/** Yields [event, data] of a stream of server-sent events; EventSource cannot send a token. */
async function* events(response) {
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = '';
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    const blocks = (rest + value).split('\n\n');
    rest = blocks.pop();
    for (const block of blocks) {
      const lines = block.split('\n');
      const field = (name) => lines.find((line) => line.startsWith(`${name}: `))?.slice(name.length + 2);
      if (field('data') !== undefined) yield [field('event') ?? 'message', JSON.parse(field('data'))];
    }
  }
}

/** Milliseconds as a person says them. */
function duration(ms) {
  if (ms === null) return '–';
  if (ms < 1000) return `${Math.round(ms * 10) / 10} ms`;
  return ms < 120_000 ? `${(ms / 1000).toFixed(1)} s` : `${Math.round(ms / 60_000)} min`;
}

function showHost(host) {
  const { limit, limitSource, attached, tasks, available } = host.eni;
  byId('eni-used').textContent = attached ?? tasks;
  byId('eni-limit').textContent =
    limit === null ? 'in use; the limit is not known' : `of ${limit} in use, ${available ?? '?'} free (${limitSource})`;
  const used = attached ?? tasks;
  const kinds = [
    ...Array(Math.max(0, used - tasks)).fill('other'),
    ...Array(tasks).fill('mine'),
    ...Array(Math.max(0, (limit ?? used) - used)).fill('free'),
  ];
  byId('slots').replaceChildren(...kinds.map((kind) => make('i', { class: `slot ${kind}`, title: kind })));
  byId('pool-used').textContent = host.linkLocal.allocated;
  byId('pool-limit').textContent = `of ${host.linkLocal.capacity}`;
  byId('pool').max = host.linkLocal.capacity;
  byId('pool').value = host.linkLocal.allocated;
  byId('bridge-subnet').textContent = host.linkLocal.subnet;
  byId('host-name').textContent = host.instanceId ?? 'this host';
  byId('host-about').textContent = [
    host.instanceType,
    host.availabilityZone,
    `${host.sandbox} sandboxes`,
    `task-eni ${host.version}`,
  ]
    .filter(Boolean)
    .join(' · ');
  byId('orphans').hidden = host.orphans.length === 0;
  byId('orphans').textContent = host.orphans
    .map((orphan) => `Orphan ${orphan.taskId ?? ''}: ${orphan.detail}`)
    .join('\n');
}

function end(kind, name, ...values) {
  const shown = values.filter((value) => value !== null);
  return shown.length === 0
    ? []
    : [make('dt', { class: kind }, name), make('dd', { class: kind }, make('code', {}, shown.join(' · ')))];
}

function taskRow(network) {
  const { taskId, state, eni, linkLocal, credentials, labels, error, warnings } = network;
  const joined = state === 'READY' || state === 'ATTACHING';
  const cut = joined ? '' : ' cut';
  const box = make(
    'div',
    { class: 'box' },
    make('div', { class: 'head' }, make('strong', {}, taskId), make('span', { class: 'state' }, state)),
    make(
      'dl',
      { class: 'ends' },
      ...end('nic', eni.interface ?? 'ENI', eni.ipv4Address, eni.ipv6Address, eni.macAddress),
      ...end('nic phone', 'ENI', eni.id),
      ...end('ll', linkLocal?.interface ?? 'bridge', linkLocal?.ipv4Address ?? null),
      ...end('ll phone', 'port', linkLocal?.hostInterface ?? null),
      ...end('', 'role', credentials?.roleArn ?? null),
      ...end('', 'network', network.networkMode),
    ),
    make(
      'div',
      { class: 'tags' },
      ...Object.entries(labels).map(([key, value]) => make('span', {}, `${key}=${value}`)),
    ),
    error === null ? null : make('p', { class: 'bad' }, `${error.code}: ${error.detail}`),
    ...warnings.map((warning) => make('p', { class: 'quiet' }, warning)),
  );
  return make(
    'li',
    { class: 'task', 'data-state': state },
    make('div', { class: `cable ll${cut}` }, make('span', { class: 'mono' }, linkLocal?.hostInterface ?? '')),
    box,
    make('div', { class: `cable nic${cut}` }, make('span', { class: 'mono' }, eni.id ?? eni.hostInterface ?? '')),
  );
}

function showTasks() {
  const sorted = [...networks.values()].sort((a, b) => a.createdAt.localeCompare(b.createdAt));
  byId('tasks').replaceChildren(...sorted.map(taskRow));
  byId('bridge-name').textContent = sorted.find(({ linkLocal }) => linkLocal !== null)?.linkLocal.bridge ?? 'bridge';
}

function attachRow({ taskId, attachMs, steps }, longest) {
  const bar = make('div', { class: 'steps' });
  bar.style.width = `${(100 * attachMs) / longest}%`;
  for (const { name, durationMs } of steps) {
    if (durationMs === null) continue;
    const part = make('i', { 'data-step': name, title: `${name} ${duration(durationMs)}` });
    part.style.flexGrow = durationMs;
    bar.append(part);
  }
  return make('tr', {}, make('td', {}, taskId), make('td', {}, duration(attachMs)), make('td', {}, bar));
}

function showAttaches() {
  const longest = Math.max(1, ...attaches.map(({ attachMs }) => attachMs));
  byId('attaches').replaceChildren(...attaches.map((attach) => attachRow(attach, longest)));
  byId('last-ms').textContent = duration(attaches[0]?.attachMs ?? null);
  byId('last-what').textContent = attaches[0]?.taskId ?? 'none yet';
}

/** Takes in what is new of a task. */
function hear(network) {
  if (network.state === 'DETACHED') networks.delete(network.taskId);
  else networks.set(network.taskId, network);
  if (network.readyAt === null) return;
  const others = attaches.filter((old) => old.taskId !== network.taskId || old.readyAt !== network.readyAt);
  attaches = [network, ...others].sort((a, b) => b.readyAt.localeCompare(a.readyAt)).slice(0, 10);
}

function setLive(state, words) {
  byId('live').dataset.live = state;
  byId('live').textContent = words;
}

/** One look at the host at a time, and no more than one a second however fast tasks change. */
let hostWanted = 0;
function wantHost() {
  clearTimeout(hostWanted);
  hostWanted = setTimeout(async () => {
    try {
      showHost(await (await call('/host')).json());
    } catch (error) {
      setLive('wait', error.message);
    }
  }, 150);
}

async function watch() {
  const response = await call('/tasks', { accept: 'text/event-stream' });
  byId('ask').hidden = true;
  byId('view').hidden = byId('forget').hidden = false;
  setLive('on', 'live');
  for await (const [event, data] of events(response)) {
    if (event === 'snapshot') networks.clear();
    for (const network of event === 'snapshot' ? data.tasks : [data]) hear(network);
    showTasks();
    showAttaches();
    wantHost();
  }
}

function askForToken(words) {
  sessionStorage.removeItem('token');
  byId('view').hidden = byId('forget').hidden = true;
  byId('ask').hidden = false;
  byId('refused').textContent = words;
  byId('token').focus();
  setLive('off', 'not connected');
}

/** Watches for good: what breaks is tried again, but a refused token is asked for. */
async function run() {
  for (;;) {
    try {
      await watch();
      setLive('wait', 'connecting again');
    } catch (error) {
      if (error instanceof Unauthorized) return askForToken(token === '' ? '' : 'The service refuses this token.');
      setLive('wait', 'the service does not answer; trying again');
    }
    await new Promise((resolve) => setTimeout(resolve, 1500));
  }
}

byId('ask').addEventListener('submit', (event) => {
  event.preventDefault();
  token = byId('token').value.trim();
  byId('token').value = '';
  sessionStorage.setItem('token', token);
  void run();
});
byId('forget').addEventListener('click', () => {
  sessionStorage.removeItem('token');
  location.reload();
});
byId('legend').append(...stepNames.map((name) => make('li', {}, make('i', { 'data-step': name }), name)));
setInterval(() => document.visibilityState === 'visible' && !byId('view').hidden && wantHost(), 5000);
void run();
