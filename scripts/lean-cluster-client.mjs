// What makes the cluster client small and quick to load (plugin for esbuild). The whole of it takes a second.

/** Libraries of the client that serve what most connections lack: SOCKS proxies, OIDC, the cloud logins of old, YAML that is read here. */
const LATER_LIBRARIES = ['hpagent', 'js-yaml', 'jsonpath-plus', 'node-fetch', 'openid-client', 'socks-proxy-agent'];

export const leanClusterClient = {
  name: 'lean-cluster-client',
  setup(builder) {
    // No file of the client does anything when it is imported, but its package does not say so.
    builder.onResolve({ filter: /^\./ }, async ({ path, importer, resolveDir, kind, pluginData }) => {
      if (pluginData === 'resolved' || !isClient(importer)) return undefined;
      const found = await builder.resolve(path, { resolveDir, kind, importer, pluginData: 'resolved' });
      return { ...found, sideEffects: false };
    });
    builder.onResolve({ filter: /kubernetes-client-node-later\.cjs$/ }, () => ({ path: laterFile, external: true }));
    builder.onResolve({ filter: new RegExp(`^(${LATER_LIBRARIES.join('|')})$`) }, ({ path, importer, resolveDir }) =>
      isClient(importer) ? { path, namespace: 'later', pluginData: resolveDir } : undefined,
    );
    builder.onLoad({ filter: /.*/, namespace: 'later' }, async ({ path, pluginData }) => ({
      contents: await loadedLater(path),
      resolveDir: pluginData,
    }));
    // node-fetch 2 brings its own URL with 250 KB of tables; Node has had one for years.
    builder.onResolve({ filter: /^whatwg-url$/ }, () => ({ path: 'whatwg-url', namespace: 'shim' }));
    builder.onLoad({ filter: /.*/, namespace: 'shim' }, () => ({
      contents: 'module.exports = { URL: globalThis.URL };',
    }));
  },
};

function isClient(importer) {
  return /[/\\]@kubernetes[/\\]client-node[/\\]/.test(importer);
}

/** The file that they are read from, when one of them is used. */
const laterFile = './kubernetes-client-node-later.cjs';

/** What is in that file. */
export const laterLibraries = `module.exports = { ${LATER_LIBRARIES.map(
  (library) => `get '${library}'() { return require('${library}'); }`,
).join(', ')} };`;

/** A module with the library's names, which reads the library when one of them is used; one that is a function itself stays one. */
async function loadedLater(library) {
  const { default: main, ...named } = await import(library);
  const real = `require('${laterFile}')['${library}']`;
  const names = Object.keys(named).filter((name) => name !== 'module.exports' && name !== '__esModule');
  return `module.exports = ${typeof main === 'function' ? `(...args) => ${real}(...args)` : '{}'};
    for (const name of ${JSON.stringify(names)}) {
      Object.defineProperty(module.exports, name, { enumerable: true, configurable: true, get: () => ${real}[name] });
    }`;
}
