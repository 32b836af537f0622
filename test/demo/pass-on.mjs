/** Takes a listener over ipc and passes each of its connections on to 127.0.0.1:<port> of the namespace it runs in. */
import { connect } from 'node:net';
import { pipeline } from 'node:stream';

const port = Number(process.argv[2]);

function passOn(client) {
  const api = connect(port, '127.0.0.1');
  // Whichever end goes first takes the other with it.
  pipeline(client, api, () => api.destroy());
  pipeline(api, client, () => client.destroy());
}

process.on('message', (_, listener) => listener.on('connection', passOn));
process.on('disconnect', () => process.exit(0));
process.send('ready');
