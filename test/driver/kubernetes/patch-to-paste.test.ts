import assert from 'node:assert/strict';
import { suggestionsForDenial } from '../../../src/driver/kubernetes/denial.js';
import type { PodPatch } from '../../../src/driver/settings.js';
import { problemsOf } from '../../helpers/pod-patch.js';

/** The patch of a suggestion, as a shell would write it into the file. */
function pasted(message: string, current?: PodPatch): unknown {
  const lines = suggestionsForDenial(message, current);
  const text = lines.map((line) => /^ {2}echo '(.*)' > pod-patch\.json$/.exec(line)?.[1]).find(Boolean);
  assert.ok(text, lines.join('\n'));
  assert.match(lines.at(-1) ?? '', /add: --pod-patch pod-patch\.json/);
  const document = JSON.parse(text.replaceAll("'\\''", "'")) as PodPatch['document'];
  assert.equal(problemsOf(document), '');
  return document;
}
const container = (name: string, requests: object, limits: object): object => ({
  name,
  resources: { requests, limits },
});

// Each message was seen on 1.37, the named taint on 1.30.
describe('the patch to paste', () => {
  it('gives each container what a quota misses on it', () => {
    const message =
      'pods "x" is forbidden: failed quota: q: must specify limits.cpu for: invocation,outputs; limits.memory for: invocation; requests.cpu for: invocation';
    assert.deepEqual(pasted(message), {
      spec: {
        initContainers: [{ name: 'outputs', resources: { limits: { cpu: '200m' } } }],
        containers: [container('invocation', { cpu: '100m' }, { cpu: '500m', memory: '512Mi' })],
      },
    });
  });

  it('keeps within the bounds of a LimitRange, of containers and of the pod', () => {
    const message =
      'pods "x" is forbidden: [minimum cpu usage per Container is 50m, but request is 10m, minimum memory usage per Container is 100Mi, but request is 33Mi, maximum memory usage per Container is 120Mi, but limit is 129Mi, cpu max limit to request ratio per Container is 2, but provided ratio is 20.000000, maximum memory usage per Pod is 230Mi, but limit is 249Mi]';
    const [ours, bundle] = [
      { cpu: '200m', memory: '115Mi' },
      { cpu: '500m', memory: '115Mi' },
    ];
    assert.deepEqual(pasted(message), {
      spec: {
        initContainers: [container('outputs', ours, ours)],
        containers: [container('invocation', bundle, bundle)],
      },
    });
    const limited = { cpu: '150m' };
    assert.deepEqual(pasted('maximum cpu usage per Container is 150m.  No limit is specified'), {
      spec: {
        initContainers: [container('outputs', limited, limited)],
        containers: [container('invocation', limited, limited)],
      },
    });
  });

  it('tolerates a taint, and leaves its key to be filled in where the scheduler does not say it', () => {
    assert.deepEqual(
      pasted(
        '0/2 nodes are available: 1 node(s) had untolerated taint {dedicated: gpu}, 1 node(s) had untolerated taint {a/b: }.',
      ),
      {
        spec: {
          tolerations: [
            { key: 'dedicated', operator: 'Equal', value: 'gpu' },
            { key: 'a/b', operator: 'Exists' },
          ],
        },
      },
    );
    assert.deepEqual(pasted('0/1 nodes are available: 1 node(s) had untolerated taint(s).'), {
      spec: { tolerations: [{ key: 'KEY', operator: 'Exists' }] },
    });
  });

  it('shows what a patch looks like where only a policy knows what it wants', () => {
    for (const message of [
      'admission webhook "p.example" denied the request: no team',
      "ValidatingAdmissionPolicy 'p' with binding 'b' denied request: no team",
    ]) {
      assert.deepEqual(pasted(message), { metadata: { labels: { KEY: 'VALUE' } } });
    }
  });

  it('holds what the patch of the run said already', () => {
    const current = { document: { nodeSelector: { disk: 'ssd' } }, file: 'mine.yaml' };
    assert.deepEqual(pasted('1 node(s) had untolerated taint {dedicated: gpu}', current), {
      spec: { nodeSelector: { disk: 'ssd' }, tolerations: [{ key: 'dedicated', operator: 'Equal', value: 'gpu' }] },
    });
  });

  it('lets no word of the cluster out of its quotes', () => {
    assert.deepEqual(pasted("untolerated taint {it's: $(x)}"), {
      spec: { tolerations: [{ key: "it's", operator: 'Equal', value: '$(x)' }] },
    });
  });
});
