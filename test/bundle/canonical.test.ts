import assert from 'node:assert/strict';
import fc from 'fast-check';
import type { Json } from '../../src/bundle/bundle.js';
import { canonical, canonicalDigest } from '../../src/bundle/canonical.js';

describe('canonical JSON (RFC 8785)', () => {
  it('is the example of the RFC', () => {
    const text =
      '{"numbers":[333333333.33333329,1E30,4.50,2e-3,0.000000000000000000000000001],' +
      '"string":"\\u20ac$\\u000F\\u000aA\'\\u0042\\u0022\\u005c\\\\\\"\\/","literals":[null,true,false]}';
    assert.equal(
      canonical(JSON.parse(text) as Json),
      '{"literals":[null,true,false],"numbers":[333333333.3333333,1e+30,4.5,0.002,1e-27],' +
        '"string":"€$\\u000f\\nA\'B\\"\\\\\\\\\\"/"}',
    );
  });

  it('sorts keys by UTF-16 code units, not by code points or as JavaScript lists them', () => {
    const value = JSON.parse('{"\\ufb33":1,"\\ud83d\\ude00":2,"\\u20ac":3,"10":4,"9":5,"__proto__":6,"\\r":7}') as Json;
    assert.equal(canonical(value), '{"\\r":7,"10":4,"9":5,"__proto__":6,"€":3,"😀":2,"\ufb33":1}');
  });

  it('does not depend on the order of keys and parses back to the same value', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        const text = canonical(value as Json);
        assert.equal(canonical(JSON.parse(text) as Json), text);
        assert.deepEqual(JSON.parse(text), JSON.parse(JSON.stringify(value)));
      }),
    );
  });

  it('has a digest of its UTF-8 bytes', () => {
    assert.equal(canonicalDigest({}), 'sha256:44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a');
  });
});
