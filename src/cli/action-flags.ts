import { targetFlags, text, texts, yes } from './flags.js';

/** Flags of every command that runs an action of a bundle. */
export const actionFlags = {
  param: texts('param', 'value of a parameter', { char: 'p', aliases: ['set'], helpValue: 'NAME=VALUE' }),
  'param-file': texts('param-file', 'value of a parameter from a file', { helpValue: 'NAME=FILE' }),
  params: texts('params', 'YAML or JSON file of parameter values; the last file wins', { helpValue: 'FILE' }),
  credentials: texts('credentials', 'credential set, by name or file', { char: 'c', helpValue: 'NAME|FILE' }),
  credential: texts(
    'credential',
    'one credential: env:VAR, path:FILE, command:CMD or - for standard input; bytes, a last newline is kept',
    {
      helpValue: 'NAME=SOURCE',
    },
  ),
  ...targetFlags,
  kubeconfig: text('kubeconfig', 'kubeconfig file (default: $KUBECONFIG, ~/.kube/config, in-cluster)', {
    helpValue: 'FILE',
  }),
  'create-namespace': yes('create-namespace', 'create the namespace where it does not exist'),
  'service-account': text('service-account', 'service account that the bundle speaks as (default: none)', {
    helpValue: 'NAME',
  }),
  'image-pull-secret': texts('image-pull-secret', 'secret to pull the image with', { helpValue: 'NAME' }),
  timeout: text('timeout', 'stop the run after this time (default: 0, no limit)', { helpValue: '1h30m' }),
  'start-timeout': text('start-timeout', 'how long the pod may take to start (default: 5m)', { helpValue: '5m' }),
  'grace-period': text('grace-period', 'what a stopped bundle gets to end by itself (default: 30s)', {
    helpValue: '30s',
  }),
  'hold-time': text('hold-time', 'how long large and sensitive outputs can be fetched (default: 10m, detached 1h)', {
    helpValue: '10m',
  }),
  label: texts('label', 'label for Job, pod and Secret', { helpValue: 'KEY=VALUE' }),
  'shell-image': text('shell-image', 'image of the sidecar that carries the outputs', { helpValue: 'IMAGE' }),
  'run-as-user': text('run-as-user', 'uid that the whole pod runs as', { helpValue: 'UID' }),
  'pod-patch': text('pod-patch', 'YAML or JSON file, a part of a Pod to merge into the pod; for this run only', {
    helpValue: 'FILE',
  }),
  'keep-job': yes('keep-job', 'leave Job, pod and Secret in place afterwards, whoever brings the run to its end'),
  'sensitive-outputs': text(
    'sensitive-outputs',
    'how sensitive ones travel; log: all who read logs can see them (default: exec)',
    {
      options: ['exec', 'log'],
      helpValue: 'exec|log',
    },
  ),
  'outputs-via': text('outputs-via', 'how outputs above 4.5 MiB travel (default: auto, by exec where allowed)', {
    options: ['auto', 'log', 'exec'],
    helpValue: 'auto|log|exec',
  }),
  'max-output-size': text('max-output-size', 'largest single output (default: 1GiB)', { helpValue: 'SIZE' }),
  'max-outputs-total': text('max-outputs-total', 'largest total of outputs (default: 4GiB)', { helpValue: 'SIZE' }),
  'max-log-outputs': text('max-log-outputs', 'largest total that travels in the log (default: 256MiB)', {
    helpValue: 'SIZE',
  }),
  detach: yes('detach', 'leave as soon as the run is safe on the cluster: cnab wait NAME gives its end'),
  'dry-run': yes('dry-run', 'show parameters and objects, secrets masked; record, create and run nothing'),
  'relocation-mapping': text('relocation-mapping', 'JSON file of images and where they were moved to', {
    helpValue: 'FILE',
  }),
  'outputs-dir': text('outputs-dir', 'leave the outputs in this folder too, but sensitive ones', { helpValue: 'DIR' }),
  'include-sensitive': texts('include-sensitive', 'sensitive output that --outputs-dir leaves there all the same', {
    helpValue: 'OUTPUT',
  }),
  reset: yes('reset', 'drop what earlier runs chose: parameters, credential sets, service account'),
  force: yes('force', "run although the installation's state forbids it"),
  yes: yes('yes', 'do not ask before a run against a protected context', { char: 'y' }),
  'ignore-required-extensions': yes('ignore-required-extensions', 'run a bundle that asks for unknown extensions'),
};

type Several = readonly string[] | undefined;

/** What the parser gives for `actionFlags`. */
export interface ActionFlags {
  readonly param?: Several;
  readonly 'param-file'?: Several;
  readonly params?: Several;
  readonly credentials?: Several;
  readonly credential?: Several;
  readonly driver?: string | undefined;
  readonly context?: string | undefined;
  readonly namespace?: string | undefined;
  readonly kubeconfig?: string | undefined;
  readonly 'create-namespace'?: boolean;
  readonly 'service-account'?: string | undefined;
  readonly 'image-pull-secret'?: Several;
  readonly timeout?: string | undefined;
  readonly 'start-timeout'?: string | undefined;
  readonly 'grace-period'?: string | undefined;
  readonly 'hold-time'?: string | undefined;
  readonly label?: Several;
  readonly 'shell-image'?: string | undefined;
  readonly 'run-as-user'?: string | undefined;
  readonly 'pod-patch'?: string | undefined;
  readonly 'keep-job'?: boolean;
  readonly detach?: boolean;
  readonly 'sensitive-outputs'?: string | undefined;
  readonly 'outputs-via'?: string | undefined;
  readonly 'max-output-size'?: string | undefined;
  readonly 'max-outputs-total'?: string | undefined;
  readonly 'max-log-outputs'?: string | undefined;
  readonly 'dry-run'?: boolean;
  readonly 'relocation-mapping'?: string | undefined;
  readonly 'outputs-dir'?: string | undefined;
  readonly 'include-sensitive'?: Several;
  readonly reset?: boolean;
  readonly force?: boolean;
  readonly yes?: boolean;
  readonly 'ignore-required-extensions'?: boolean;
  readonly quiet?: boolean;
  readonly 'no-color'?: boolean;
  readonly output?: string | undefined;
  readonly json?: boolean;
}
