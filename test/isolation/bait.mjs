// Answers everybody at every address of its namespace: what must stay out of a task's reach although it listens.
import { createServer } from 'node:http';

const [port, address] = process.argv.slice(2);
createServer((_, response) => response.end('bait')).listen(Number(port), address, () => console.log('listening'));
