// The smallest possible node:http server with a body: what the credentials server is measured beside.
import http from 'node:http';

const { host, port, body } = JSON.parse(process.argv[2]);
const length = Buffer.byteLength(body);
http
  .createServer((_request, response) => {
    response.writeHead(200, { 'Content-Type': 'application/json', 'Content-Length': length });
    response.end(body);
  })
  .listen(port, host, () => process.stdout.write('listening\n'));
