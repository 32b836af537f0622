import { DockerEngine } from '../lab/docker-engine.js';
import { beforeAndAfter, killings, moments } from './killings.js';

// After one step is before the next; that each way is the same is seen without Docker. What lies within the making and the
// removing of a container is more.
const after = (of: readonly string[]) => of.filter((moment) => moment.endsWith(' after'));

killings({
  engine: () => DockerEngine.start(),
  attaching: [...beforeAndAfter('container create', 'container start'), ...after(moments.attaching)],
  detaching: [...beforeAndAfter('container destroy'), ...after(moments.detaching)],
});
