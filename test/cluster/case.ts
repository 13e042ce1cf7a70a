import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { KubeConfig, type V1Pod } from '@kubernetes/client-node';
import { environment } from '../helpers/run-cnab.js';
import { Api } from './api.js';
import { writeToolBundle, type ToolBundle } from './bundle.js';
import { Command, type Ended } from './command.js';
import { eventually } from './eventually.js';
import { reportNamespace } from './report.js';

export interface ProducedOutput {
  readonly name: string;
  readonly size: number;
  readonly sha256: string;
  readonly value?: unknown;
}

export interface Document {
  readonly status: string;
  readonly ran: string;
  readonly exitCode?: number;
  readonly runId: string;
  readonly revision: string;
  readonly outputs: readonly ProducedOutput[];
  readonly logComplete?: boolean;
  readonly warnings?: readonly string[];
  readonly error?: {
    readonly code: string;
    readonly message: string;
    readonly details?: readonly string[];
    readonly suggestions?: readonly string[];
  };
}

/** How a command that acts has ended: its exit code, its JSON document and what it said on the way. */
export interface Acted extends Ended {
  readonly document: Document;
  /** Everything that a user would read about the error: message, details, suggestions. */
  readonly told: string;
}

export interface CommandOptions {
  readonly kubeconfig?: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly input?: string | Uint8Array;
}

/** One case: a namespace and a home of its own, gone when it is over. */
export class Case {
  readonly #commands: Command[] = [];
  readonly #undo: (() => void | Promise<void>)[] = [];

  private constructor(
    readonly api: Api,
    readonly namespace: string,
    readonly home: string,
    readonly kubeconfig: string,
  ) {}

  static async open(labels: Readonly<Record<string, string>> = {}): Promise<Case> {
    const api = new Api();
    const namespace = `cnab-test-${randomBytes(5).toString('hex')}`;
    // In the node's folder where there is one: it is removed with it, also when the tests are killed.
    const home = mkdtempSync(join(process.env['CNAB_CLUSTER_DIR'] ?? tmpdir(), 'cnab-test-'));
    const config = new KubeConfig();
    config.loadFromString(api.kubeconfig.exportConfig());
    const contexts = config.contexts.map((context) => ({ ...context, namespace }));
    const file = join(home, 'kubeconfig');
    config.contexts = contexts;
    writeFileSync(file, config.exportConfig(), { mode: 0o600 });
    const made = new Case(api, namespace, home, file);
    await api.makeNamespace(namespace, { 'cnab-test': 'case', ...labels });
    await made.accountIsThere(namespace);
    return made;
  }

  /** A pod of a namespace that has no service account yet is refused. */
  async accountIsThere(namespace: string): Promise<void> {
    const path = `/api/v1/namespaces/${namespace}/serviceaccounts/default`;
    await eventually(
      'the default service account',
      30,
      async () => (await this.api.request('GET', path)).status === 200,
    );
  }

  /** To be undone when the case is over, last first. */
  defer(undo: () => void | Promise<void>): void {
    this.#undo.push(undo);
  }

  bundle(given: ToolBundle): string {
    return writeToolBundle(this.home, given);
  }

  start(args: readonly string[], { kubeconfig = this.kubeconfig, env = {}, input }: CommandOptions = {}): Command {
    const command = new Command(args, {
      cwd: this.home,
      env: environment({ home: this.home, env: { KUBECONFIG: kubeconfig, ...env } }),
      ...(input === undefined ? {} : { input }),
    });
    this.#commands.push(command);
    return command;
  }

  run(args: readonly string[], options?: CommandOptions): Promise<Ended> {
    return this.start(args, options).ended;
  }

  /** `cnab install app BUNDLE --json FLAG...` to its end. */
  install(bundle: string, flags: readonly string[] = [], options?: CommandOptions): Promise<Acted> {
    return this.act(['install', 'app', bundle, ...flags], options);
  }

  async act(args: readonly string[], options?: CommandOptions): Promise<Acted> {
    return this.acted(this.start([...args, '--json'], options));
  }

  /** The end of a command that was started with `--json`. */
  async acted(command: Command): Promise<Acted> {
    const ended = await command.ended;
    let document: Document;
    try {
      document = JSON.parse(ended.stdout.toString()) as Document;
    } catch {
      throw new Error(`no JSON document but ${JSON.stringify(ended.stdout.toString())}:\n${ended.stderr}`);
    }
    const { message = '', details = [], suggestions = [] } = document.error ?? {};
    return { ...ended, document, told: [message, ...details, ...suggestions].join('\n') };
  }

  /** The bytes of an output, by the command that users have for it. */
  async output(name: string, installation = 'app'): Promise<Buffer> {
    const { code, stdout, stderr } = await this.run(['outputs', 'show', installation, name]);
    assert.equal(code, 0, stderr);
    return stdout;
  }

  /** The one pod of the case, when there is one. */
  async pod(): Promise<V1Pod | undefined> {
    return (await this.api.pods(this.namespace))[0];
  }

  /** Waits for the invocation of the one pod to be running. */
  running(seconds = 60): Promise<V1Pod> {
    return eventually('the invocation is running', seconds, async () => {
      const pod = await this.pod();
      return pod?.status?.containerStatuses?.some(({ name, state }) => name === 'invocation' && state?.running) && pod;
    });
  }

  /** Waits until no Job, pod or Secret of the run is left. */
  nothingIsLeft(seconds = 30): Promise<true> {
    return eventually('nothing is left in the namespace', seconds, async () => {
      const [jobs, pods, secrets] = await Promise.all([
        this.api.jobs(this.namespace),
        this.api.pods(this.namespace),
        this.api.secrets(this.namespace),
      ]);
      const left = [...jobs, ...pods, ...secrets].map(({ metadata }) => metadata?.name ?? '');
      if (left.length > 0) throw new Error(left.join(', '));
      return true;
    });
  }

  file(name: string, content: string | Uint8Array): string {
    const path = join(this.home, name);
    mkdirSync(join(path, '..'), { recursive: true });
    writeFileSync(path, content);
    return path;
  }

  readFile(name: string): Buffer {
    return readFileSync(join(this.home, name));
  }

  /** What the cluster knows and what the commands said, for a case that failed. */
  async report(): Promise<string> {
    const said = this.#commands.map(({ stderr }, index) => `--- command ${index + 1} said:\n${stderr}`);
    return [...said, await reportNamespace(this.api, this.namespace)].join('\n');
  }

  async close(): Promise<void> {
    for (const command of this.#commands) if (!command.isOver) command.kill('SIGKILL');
    for (const undo of this.#undo.reverse()) await undo();
    // Pods that are stopped with a long grace would keep the namespace for minutes.
    await this.api.remove(`/api/v1/namespaces/${this.namespace}/pods`, { gracePeriodSeconds: 1 });
    await this.api.remove(`/api/v1/namespaces/${this.namespace}`);
    rmSync(this.home, { recursive: true, force: true });
  }
}
