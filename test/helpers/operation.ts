import type { InputFile, Operation } from '../../src/driver/driver.js';

export const RUN_ID = '01JD0Z4KX2Y3M5N7P9QRSTVWXY';

/** An operation of the smallest kind; `more` replaces fields of it. */
export function operation(more: Partial<Operation> = {}): Operation {
  return {
    runId: RUN_ID,
    installation: 'app',
    action: 'install',
    revision: '01JD0Z4KX2Y3M5N7P9QRSTVWXZ',
    bundleName: 'hello',
    image: { image: 'example/hello:1.0.0' },
    environment: [{ name: 'CNAB_ACTION', value: Buffer.from('install'), source: 'CNAB_ACTION' }],
    files: [inputFile('/cnab/bundle.json', '{}', 'public')],
    outputs: [{ name: 'greeting', path: '/cnab/app/outputs/greeting', sensitive: false }],
    record: Buffer.from('{}'),
    ...more,
  };
}

export function inputFile(
  path: string,
  content: string | Uint8Array,
  access: InputFile['access'] = 'private',
): InputFile {
  return {
    path,
    content: typeof content === 'string' ? Buffer.from(content) : content,
    access,
    source: `parameter "${path}"`,
  };
}
