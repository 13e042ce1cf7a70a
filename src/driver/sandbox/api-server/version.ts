/** GET /version of the release whose behaviour is modelled. */
export const VERSION = {
  major: '1',
  minor: '37',
  gitVersion: 'v1.37.2+sandbox',
  gitCommit: '',
  gitTreeState: '',
  buildDate: '1970-01-01T00:00:00Z',
  goVersion: '',
  compiler: '',
  platform: '',
};
