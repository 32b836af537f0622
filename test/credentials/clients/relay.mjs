// Relays connections, bytes as they are: { listen, connect } as node:net takes them. Says "listening" with its port.
import net from 'node:net';

const { listen, connect } = JSON.parse(process.argv[2]);
const server = net.createServer((near) => {
  const far = net.connect(connect);
  near.pipe(far).pipe(near);
  near.on('error', () => far.destroy());
  far.on('error', () => near.destroy());
});
server.listen(listen, () => process.stdout.write(`listening ${server.address().port ?? ''}\n`));
process.stdin.resume().on('end', () => process.exit(0));
