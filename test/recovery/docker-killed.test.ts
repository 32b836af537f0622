import { DockerEngine } from '../lab/docker-engine.js';
import { beforeAndAfter, killings, moments } from './killings.js';

// What lies within the making and the removing of a container, and the steps that work inside it; that a moment before a step
// is one after another, and that the other steps are no less safe, is seen without Docker.
const inside = /^(prepare-sandbox|connect-bridge|move-eni|configure-eni) \w+ after$/;
const after = (of: readonly string[]) => of.filter((moment) => inside.test(moment));

killings({
  engine: () => DockerEngine.start(),
  attaching: [...beforeAndAfter('container create', 'container start'), ...after(moments.attaching)],
  detaching: [...beforeAndAfter('container destroy'), ...after(moments.detaching)],
});
