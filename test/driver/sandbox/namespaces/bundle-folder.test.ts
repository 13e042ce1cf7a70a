import assert from 'node:assert/strict';
import { chmodSync, mkdirSync, mkdtempSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { bundleFolderProblem } from '../../../../src/driver/sandbox/namespaces/bundle-folder.js';

describe('the folder of a bundle as its image', () => {
  let folder: string;
  const app = (): string => join(folder, 'cnab', 'app');
  const run = (text: string, mode = 0o755): void => {
    mkdirSync(app(), { recursive: true });
    writeFileSync(join(app(), 'run'), text);
    chmodSync(join(app(), 'run'), mode);
  };
  beforeEach(() => void (folder = mkdtempSync(join(tmpdir(), 'cnab-bundle-'))));
  afterEach(() => rmSync(folder, { recursive: true }));

  it('is fine with an executable cnab/app/run', () => {
    run('#!/bin/sh\n');
    assert.equal(bundleFolderProblem(folder), undefined);
  });

  it('is gone', () => assert.match(bundleFolderProblem(join(folder, 'gone')) ?? '', /is not there any more$/));

  it('is a file', () => {
    writeFileSync(join(folder, 'file'), '');
    assert.match(bundleFolderProblem(join(folder, 'file')) ?? '', /is not a folder$/);
  });

  it('has no run tool', () => assert.match(bundleFolderProblem(folder) ?? '', /holds no cnab\/app\/run$/));

  it('has a run tool that is not executable', () => {
    run('#!/bin/sh\n', 0o644);
    assert.match(bundleFolderProblem(folder) ?? '', /is not executable: chmod \+x it$/);
  });

  it('has a folder in place of the run tool', () => {
    mkdirSync(join(app(), 'run'), { recursive: true });
    assert.match(bundleFolderProblem(folder) ?? '', /run is not a file$/);
  });

  it('has a script whose interpreter this machine lacks', () => {
    run('#!/usr/bin/no-such-python -u\n');
    assert.match(bundleFolderProblem(folder) ?? '', /needs \/usr\/bin\/no-such-python, which this machine lacks$/);
  });

  it('has a script with Windows line ends', () => {
    run('#!/bin/sh\r\necho\r\n');
    assert.match(bundleFolderProblem(folder) ?? '', /Windows line ends/);
  });

  it('has a program without an interpreter', () => {
    run('\x7fELF');
    assert.equal(bundleFolderProblem(folder), undefined);
  });

  for (const part of ['cnab', 'cnab/app']) {
    it(`has a link at ${part}, by which a bundle could show itself any folder of the user's`, () => {
      run('#!/bin/sh\n');
      const elsewhere = mkdtempSync(join(tmpdir(), 'cnab-elsewhere-'));
      renameSync(join(folder, part), join(elsewhere, 'moved'));
      symlinkSync(join(elsewhere, 'moved'), join(folder, part));
      assert.match(bundleFolderProblem(folder) ?? '', /is a symbolic link/);
      rmSync(elsewhere, { recursive: true });
    });
  }

  it('has a run tool that is a link out of it', () => {
    mkdirSync(app(), { recursive: true });
    symlinkSync('/bin/sh', join(app(), 'run'));
    assert.match(bundleFolderProblem(folder) ?? '', /is a link that leads out of/);
  });

  it('has a run tool that is a link within it', () => {
    run('#!/bin/sh\n');
    renameSync(join(app(), 'run'), join(app(), 'run.sh'));
    symlinkSync('run.sh', join(app(), 'run'));
    assert.equal(bundleFolderProblem(folder), undefined);
  });
});
