/** Loaded into the service before its own code: it waits a tenth of its time for Docker, so that a test need not wait longer. */
const { DockerConnection } = await import(`${process.env['PATIENCE_DIST']}/sandboxes/docker-connection.js`);

const { call } = DockerConnection.prototype;
DockerConnection.prototype.call = function (doing, request, { within = 10_000, cancel } = {}) {
  return call.call(this, doing, request, { within: within / 10, cancel });
};
