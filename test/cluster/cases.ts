import { Case } from './case.js';

/**
 * A group of cases on the cluster. `one()` is the running case: fresh for each, removed in the background afterwards;
 * what the cluster knows of it is printed when it fails.
 */
export function clusterCases(
  title: string,
  define: (one: () => Case) => void,
  labels: Readonly<Record<string, string>> = {},
): void {
  describe(title, function () {
    this.timeout(120_000);
    let current: Case | undefined;
    beforeEach(async () => {
      current = await Case.open(labels);
    });
    afterEach(async function () {
      if (this.currentTest?.state === 'failed') {
        const report = (await current?.report()) ?? '';
        process.stderr.write(`\n=== ${this.currentTest.fullTitle()}\n${report}\n`);
      }
      await current?.close();
      current = undefined;
    });
    define(() => {
      if (current === undefined) throw new Error('no case is running');
      return current;
    });
  });
}
