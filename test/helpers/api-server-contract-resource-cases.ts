import assert from 'node:assert/strict';
import { ContractJob, type ContractCluster, type RawAnswer } from './api-server-contract.js';
import { until } from './until.js';

const REVIEWS = '/apis/authorization.k8s.io/v1';

interface Listed {
  readonly kind: string;
  readonly apiVersion: string;
  readonly items: readonly {
    readonly kind?: string;
    readonly metadata: { readonly name: string; readonly labels?: Readonly<Record<string, string>> };
  }[];
}

const parsed = <T>({ text }: RawAnswer): T => JSON.parse(text) as T;

/** How runs are found again and read back, in the sandbox and in a cluster. */
export function resourceContractCases(title: string, open: () => ContractCluster): void {
  let one: ContractJob | undefined;
  let count = 0;

  describe(title, function () {
    this.timeout(90_000);
    afterEach(() => one?.remove());

    it('finds Jobs and pods by their labels, in one namespace and in none that has no such', async () => {
      const name = `contract-list-${++count}`;
      const labels = { 'cnab.io/installation': name, other: 'x' };
      one = new ContractJob(open(), name);
      await one.create({ invocation: 'sleep 30', labels });
      await one.shows('MODIFIED Running, outputs running, invocation running');
      const list = async (kind: 'jobs' | 'pods', selector: string, namespace = open().namespace): Promise<Listed> => {
        const root = kind === 'jobs' ? '/apis/batch/v1' : '/api/v1';
        const query = `labelSelector=${encodeURIComponent(selector)}`;
        return parsed(await open().request('GET', `${root}/namespaces/${namespace}/${kind}?${query}`));
      };
      const jobs = await list('jobs', `cnab.io/installation=${name},other==x`);
      assert.deepEqual([jobs.kind, jobs.apiVersion], ['JobList', 'batch/v1']);
      assert.deepEqual(
        jobs.items.map(({ kind, metadata }) => [kind, metadata.name]),
        [[undefined, name]],
      );
      const pods = await list('pods', `cnab.io/installation=${name}`);
      assert.deepEqual(
        pods.items.map(({ metadata }) => metadata.name),
        [one.pod?.metadata.name],
      );
      for (const selector of [`cnab.io/installation=${name},other=y`, 'cnab.io/installation=none']) {
        assert.deepEqual([(await list('jobs', selector)).items, (await list('pods', selector)).items], [[], []]);
      }
      assert.deepEqual((await list('jobs', `cnab.io/installation=${name}`, open().restricted)).items, []);
    });

    it('gives a Secret back byte by byte, and says which one is not there', async () => {
      const path = `/api/v1/namespaces/${open().namespace}/secrets`;
      const name = `contract-secret-${++count}`;
      const bytes = Buffer.from(Array.from({ length: 256 }, (_, byte) => byte)).toString('base64');
      const made = await open().request('POST', path, { metadata: { name }, data: { f0: bytes }, immutable: true });
      assert.equal(made.status, 201);
      const { status, text } = await open().request('GET', `${path}/${name}`);
      const secret = JSON.parse(text) as { kind: string; type: string; data: Record<string, string> };
      assert.deepEqual([status, secret.kind, secret.type, secret.data], [200, 'Secret', 'Opaque', { f0: bytes }]);
      const none = await open().request('GET', `${path}/${name}-none`);
      assert.deepEqual(
        [none.status, parsed<{ message: string }>(none).message],
        [404, `secrets "${name}-none" not found`],
      );
      assert.equal((await open().request('DELETE', `${path}/${name}`)).status, 200);
    });

    it('changes annotations of a Job by a patch, and refuses one that is made for an older Job', async () => {
      const name = `contract-patch-${++count}`;
      one = new ContractJob(open(), name);
      await one.create({ invocation: 'sleep 30' });
      await one.shows('MODIFIED Running, outputs running, invocation running');
      interface Patched {
        readonly metadata: {
          readonly resourceVersion: string;
          readonly annotations?: Readonly<Record<string, string>>;
        };
        readonly message: string;
      }
      const patch = async (annotations: object, resourceVersion?: string): Promise<[number, Patched]> => {
        const answer = await open().request('PATCH', one?.path ?? '', { metadata: { annotations, resourceVersion } });
        return [answer.status, parsed<Patched>(answer)];
      };
      const [status, first] = await patch({ 'cnab.io/holder': 'a', 'cnab.io/x': 'y' });
      assert.deepEqual([status, first.metadata.annotations?.['cnab.io/holder']], [200, 'a']);
      const { resourceVersion } = first.metadata;
      const [, second] = await patch({ 'cnab.io/holder': null }, resourceVersion);
      assert.deepEqual(
        [second.metadata.annotations?.['cnab.io/holder'], second.metadata.annotations?.['cnab.io/x']],
        [undefined, 'y'],
      );
      const [refused, { message }] = await patch({ 'cnab.io/holder': 'b' }, resourceVersion);
      assert.equal(refused, 409);
      assert.match(message, /^Operation cannot be fulfilled on jobs.batch ".*": the object has been modified/);
      const none = await open().request('PATCH', `${one.path}-none`, { metadata: { annotations: { a: 'b' } } });
      assert.equal(none.status, 404);
    });

    it('shows in a watch that begins with nothing what is there, and then what comes', async () => {
      const name = `contract-watch-${++count}`;
      one = new ContractJob(open(), name);
      await one.create({ invocation: 'sleep 1' });
      await one.shows('MODIFIED Running, outputs running, invocation running');
      const types: string[] = [];
      const stop = await open().stream(
        `/api/v1/namespaces/${open().namespace}/pods?watch=1&labelSelector=job-name%3D${name}`,
        (line) => types.push((JSON.parse(line) as { type: string }).type),
      );
      await one.finished();
      await until('a change after what was there', () => Promise.resolve(types.includes('MODIFIED')));
      stop();
      assert.equal(types[0], 'ADDED');
    });

    it('answers what the user may do, of one right and of all', async () => {
      const { namespace } = open();
      const may = async (verb: string, resource: string, subresource: string): Promise<unknown> => {
        const resourceAttributes = { namespace, verb, resource, ...(subresource === '' ? {} : { subresource }) };
        const answer = await open().request('POST', `${REVIEWS}/selfsubjectaccessreviews`, {
          spec: { resourceAttributes },
        });
        const body = parsed<{ kind: string; status: { allowed: boolean } }>(answer);
        return [answer.status, body.kind, body.status.allowed];
      };
      for (const verb of ['get', 'create']) {
        assert.deepEqual(await may(verb, 'pods', 'exec'), [201, 'SelfSubjectAccessReview', true]);
      }
      assert.deepEqual(await may('get', 'secrets', ''), [201, 'SelfSubjectAccessReview', true]);
      const answer = await open().request('POST', `${REVIEWS}/selfsubjectrulesreviews`, { spec: { namespace } });
      interface Rule {
        readonly verbs: string[];
        readonly apiGroups: string[];
        readonly resources: string[];
      }
      const body = parsed<{ kind: string; status: { incomplete: boolean; resourceRules: Rule[] } }>(answer);
      assert.deepEqual([answer.status, body.kind, body.status.incomplete], [201, 'SelfSubjectRulesReview', false]);
      const allows = ({ verbs, apiGroups, resources }: Rule): boolean =>
        [verbs.includes('create'), apiGroups.includes(''), resources.includes('pods/exec')].every(Boolean) ||
        [verbs, apiGroups, resources].every((list) => list.includes('*'));
      assert.ok(body.status.resourceRules.some(allows));
      const empty = await open().request('POST', `${REVIEWS}/selfsubjectaccessreviews`, { spec: {} });
      assert.equal(empty.status, 422);
      assert.match(empty.text, /exactly one of nonResourceAttributes or resourceAttributes must be specified/);
    });
  });
}
