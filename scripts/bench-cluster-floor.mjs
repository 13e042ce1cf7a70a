// What is left of an install when the client costs nothing (part of bench-cluster.mjs): posts the Job and the Secret that
// `cnab install --dry-run` shows, on a connection that is open, and prints the milliseconds from there until the API
// server tells how the bundle ended. No client can be faster with this pod.
//
//   node bench-cluster-floor.mjs KUBECONFIG OBJECTS     both files of JSON
import { readFileSync } from 'node:fs';
import https from 'node:https';

const [kubeconfig, objects] = process.argv.slice(2).map((file) => JSON.parse(readFileSync(file, 'utf8')));
const [job, secret] = objects;
const { cluster } = kubeconfig.clusters[0];
const agent = new https.Agent({
  keepAlive: true,
  ca: Buffer.from(cluster['certificate-authority-data'], 'base64'),
});
const headers = { authorization: `Bearer ${kubeconfig.users[0].user.token}`, 'content-type': 'application/json' };
const { namespace } = job.metadata;
const jobs = `/apis/batch/v1/namespaces/${namespace}/jobs`;
const run = job.metadata.labels['cnab.io/run'];

function request(method, path, body) {
  return new Promise((resolve, reject) => {
    const sent = https.request(`${cluster.server}${path}`, { method, agent, headers }, (response) => {
      if (response.statusCode >= 300) reject(new Error(`${method} ${path}: ${response.statusCode}`));
      resolve(response);
    });
    sent.on('error', reject);
    sent.end(body && JSON.stringify(body));
  });
}

async function answer(method, path, body) {
  const chunks = [];
  for await (const chunk of await request(method, path, body)) chunks.push(chunk);
  return JSON.parse(Buffer.concat(chunks).toString());
}

/** Until the invocation has ended. */
async function verdict(watch) {
  let rest = '';
  for await (const chunk of watch) {
    const lines = (rest + chunk).split('\n');
    rest = lines.pop();
    for (const line of lines) {
      const [invocation] = JSON.parse(line).object.status?.containerStatuses ?? [];
      const ended = invocation?.state.terminated;
      if (ended !== undefined) return ended;
    }
  }
  throw new Error('the watch ended');
}

// The masked values are the user's own; any will do that the bundle accepts.
const values = { CNAB_ACTION: 'install', CNAB_INSTALLATION_NAME: 'floor', GREETING: 'Hello', WHO: 'world' };
for (const { name, valueFrom } of job.spec.template.spec.containers[0].env) {
  secret.data[valueFrom.secretKeyRef.key] = values[name] ?? '';
}
for (const [key, value] of Object.entries(secret.data)) {
  secret.data[key] = Buffer.from(value === '******' ? '{}' : value).toString('base64');
}

const selector = encodeURIComponent(`cnab.io/run=${run}`);
const watch = await request('GET', `/api/v1/namespaces/${namespace}/pods?watch=1&labelSelector=${selector}`);
await answer('GET', '/version');
const began = performance.now();
const made = await answer('POST', jobs, job);
secret.metadata.ownerReferences[0].uid = made.metadata.uid;
await answer('POST', `/api/v1/namespaces/${namespace}/secrets`, secret);
const { exitCode } = await verdict(watch);
console.log((performance.now() - began).toFixed(0));
if (exitCode !== 0) throw new Error(`the bundle failed: ${exitCode}`);
await answer('DELETE', `${jobs}/${job.metadata.name}`, { propagationPolicy: 'Background' });
process.exit();
