// Opens connections, sends half a request on each, and keeps as many as it is let; says "open" when all were tried.
import net from 'node:net';

const { host, port, count } = JSON.parse(process.argv[2]);
let tried = 0;
let held = 0;

function open() {
  const socket = net.connect({ host, port });
  let settled = false;
  const settle = () => {
    if (settled) return;
    settled = true;
    tried += 1;
    if (tried === count) process.stdout.write('open\n');
  };
  socket.on('connect', () => {
    held += 1;
    socket.write('GET /v2/credentials/');
    settle();
  });
  socket.on('error', settle);
  socket.on('close', () => {
    held -= 1;
    settle();
  });
}

for (let i = 0; i < count; i += 100) {
  for (let j = 0; j < 100; j++) open();
  await new Promise((resolve) => setTimeout(resolve, 5));
}
process.stdin.resume().on('end', () => process.exit(0));
