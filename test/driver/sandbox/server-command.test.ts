import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { serverCommand } from '../../../src/driver/sandbox/server-command.js';

describe('the command that starts the API server', () => {
  it('is a file beside the built program', () => {
    assert.deepEqual(serverCommand('/bin/node', 'file:///opt/a%20b/lib/main.cjs'), [
      '/bin/node',
      '/opt/a b/lib/sandbox-server.cjs',
    ]);
  });

  it('is a source file with its loader when the program runs from its sources', () => {
    const [node, flag, loader, entry] = serverCommand('/bin/node');
    assert.deepEqual([node, flag], ['/bin/node', '--import']);
    assert.match(loader ?? '', /^file:.*tsx/);
    assert.ok(existsSync(entry ?? ''));
  });
});
