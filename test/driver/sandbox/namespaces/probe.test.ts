import assert from 'node:assert/strict';
import { explain, type ProbeFacts } from '../../../../src/driver/sandbox/namespaces/probe.js';

const FINE: ProbeFacts = {
  platform: 'linux',
  uid: 1000,
  missingPrograms: [],
  hasOutsideIdentity: true,
  keyringWouldPass: false,
  inContainer: false,
};
const REFUSED: ProbeFacts = {
  ...FINE,
  complaint: 'unshare: unshare failed: Operation not permitted',
  maxUserNamespaces: 15_000,
};

const cases: readonly [string, ProbeFacts, RegExp, RegExp][] = [
  ['another system', { ...FINE, platform: 'darwin' }, /namespaces of Linux, and this is darwin/, /on a cluster/],
  [
    'missing programs',
    { ...FINE, missingPrograms: ['unshare', 'setpriv'] },
    /unshare, setpriv not found in/,
    /install util-linux/,
  ],
  [
    'root without another uid',
    { ...FINE, uid: 0, hasOutsideIdentity: false },
    /root of this user namespace has no other uid/,
    /run cnab as another user/,
  ],
  [
    'a session keyring that nothing here can take away',
    { ...FINE, keyringWouldPass: true },
    /would inherit your session keyring/,
    /install perl/,
  ],
  [
    'a limit',
    { ...REFUSED, complaint: 'unshare: unshare failed: No space left on device' },
    /the limit on namespaces is reached/,
    /max_\.\*_namespaces/,
  ],
  [
    'busybox',
    { ...FINE, complaint: 'unshare: unrecognized option: keep-caps' },
    /not the one of util-linux 2\.36/,
    /install util-linux/,
  ],
  [
    'user.max_user_namespaces',
    { ...REFUSED, maxUserNamespaces: 0 },
    /max_user_namespaces is 0/,
    /sysctl -w user\.max_user_namespaces=/,
  ],
  [
    'kernel.unprivileged_userns_clone',
    { ...REFUSED, unprivilegedClone: 0 },
    /unprivileged_userns_clone is 0/,
    /sysctl -w kernel\.unprivileged_userns_clone=1/,
  ],
  [
    "Ubuntu's AppArmor rule",
    { ...REFUSED, appArmorRestricts: 1 },
    /apparmor_restrict_unprivileged_userns \(Ubuntu\)/,
    /sysctl -w kernel\.apparmor_restrict_unprivileged_userns=0/,
  ],
  [
    "Docker's seccomp",
    { ...REFUSED, inContainer: true, seccomp: 2, appArmorRestricts: 1 },
    /this is a container whose security profile/,
    /--security-opt seccomp=unconfined/,
  ],
  [
    "Docker's seccomp, for root",
    { ...REFUSED, uid: 0, inContainer: true, seccomp: 2 },
    /this is a container/,
    /--cap-add SYS_ADMIN/,
  ],
  ['a seccomp filter outside a container', { ...REFUSED, seccomp: 2 }, /a seccomp filter/, /on a cluster/],
  [
    'anything else',
    REFUSED,
    /namespaces cannot be made \(unshare: unshare failed: Operation not permitted\)/,
    /on a cluster/,
  ],
];

describe('why there are no namespaces', () => {
  it('has nothing to say where the trial worked', () => assert.equal(explain(FINE), undefined));

  for (const [rule, facts, sentence, advice] of cases) {
    it(`names ${rule} and what to do`, () => {
      const problem = explain(facts);
      assert.equal(problem?.code, 'unavailable');
      assert.match(problem?.message ?? '', sentence);
      assert.match(problem?.suggestions.join('\n') ?? '', advice);
      assert.doesNotMatch(problem?.message ?? '', /\n/);
    });
  }

  it('does not blame a rule for unprivileged users when root is refused', () => {
    assert.doesNotMatch(
      explain({ ...REFUSED, uid: 0, unprivilegedClone: 0, appArmorRestricts: 1 })?.message ?? '',
      /unprivileged/,
    );
  });
});
