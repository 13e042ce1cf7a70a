/**
 * Expands `$(NAME)` as the kubelet does (third_party/forked/golang/expansion): an unknown name stays as written,
 * `$$` is one `$` wherever it stands (so `echo $$` in a command prints `$`), an unclosed `$(` stays.
 */
export function expand(text: string, variables: ReadonlyMap<string, string>): string {
  return text.replace(/\$(\$|\(([^)]*)\)|)/gs, (whole, after: string, name: string | undefined) => {
    if (after === '$') return '$';
    if (name === undefined) return whole;
    return variables.get(name) ?? whole;
  });
}
