# The `outputs` sidecar: brings the inputs, waits for the end of the invocation, writes the wanted outputs to its log.
#
# The lines that it writes are described in grammar.ts, the story around them in docs/outputs-protocol.md.
# POSIX sh for busybox (1.36 and later) and for dash or bash with coreutils and awk. Settings: sidecar.ts.
# output-path.sh stands before it.

# What tools and the shell have to say would reach the same log as the frames, in the middle of a line.
exec 2>/dev/null
# First of all: PID 1 without a trap ignores SIGTERM, and the invocation may be over at any moment. It may be sent
# more than once (a restarted kubelet does), so it sets a flag and starts nothing.
ended=
trap 'ended=1' TERM

LC_ALL=C
export LC_ALL
umask 077
set -f

# Characters of base64 in a line: 9216 bytes. With all around it a line is below the 16 KiB at which runtimes cut.
line_chars=12288
# Seconds between two signs of life.
beat=${CNAB_BEAT:-15}

# Writes one frame. printf is a builtin: one write(2), well below PIPE_BUF.
say() {
  printf 'CNABO1 %s %s %s .\n' "$CNAB_RUN" "$start" "$*"
}

# Says why it cannot work, and leaves before the invocation starts. The kubelet will start it again.
give_up() {
  say fault "$1" "$2"
  exit 1
}

# Not with `:`: that is a special builtin, and a shell exits without a word where the redirection of one fails.
make_empty() {
  printf '' > "$1"
}

# How often the sidecar was started in this pod; the scratch folder outlives the container.
start=1
if ! mkdir -p "$scratch"; then give_up scratch mkdir; fi
if [ -s "$scratch/start" ] && read -r start < "$scratch/start"; then start=$((start + 1)); fi
if ! printf '%s\n' "$start" > "$scratch/start"; then give_up scratch write; fi

# A shell image that lacks a tool must not be found out after the bundle has run. Each is tried the way it is used.
make_empty "$scratch/probe" || give_up scratch write
[ "$(printf abc | base64 -w 4 | awk -v head=x '{ print head (NR - 1) $0 }')" = x0YWJj ] || give_up tool base64
case $(sha256sum < "$scratch/probe") in e3b0c442*) ;; *) give_up tool sha256sum ;; esac
[ "$(stat -c '%s' "$scratch/probe")" = 0 ] || give_up tool stat
dd if="$scratch/probe" of="$scratch/block" bs=1 skip=0 count=1 || give_up tool dd

# The sha256 of a short secret tells the secret to whoever tries all that are short, so a file that may not be in the log
# is sealed there: its digest is hashed with a salt that only an exec can read.
salt=
if [ -n "$CNAB_UNLOGGED" ]; then
  dd if=/dev/urandom of="$scratch/probe" bs=32 count=1
  [ "$(stat -c '%s' "$scratch/probe")" = 32 ] || give_up tool urandom
  salt=$(sha256sum < "$scratch/probe")
  salt=${salt%% *}
  printf '%s\n' "$salt" > "$scratch/salt" || give_up scratch write
fi
# For whoever has to signal it: in a pod with one process namespace it is not number 1.
sh -c 'printf "%s\n" "$PPID"' > "$scratch/pid" || give_up scratch write
# What an earlier start has told, or was told, is over.
for mark in told heard done; do make_empty "$scratch/$mark" || give_up scratch write; done

# Puts the inputs in place: file i of its parts f<i>.0, f<i>.1 and so on; CNAB_INPUTS has `mode:parts` for each.
# Once only: when a restarted sidecar comes here again, the invocation may have written to them.
place_inputs() {
  i=0
  for input in $CNAB_INPUTS; do
    mode=${input%:*}
    parts=${input#*:}
    # A start that was killed in the middle may have left it read-only.
    [ ! -e "$files/f$i" ] || chmod 600 "$files/f$i" || give_up input "$i"
    make_empty "$files/f$i" || give_up input "$i"
    part=0
    while [ "$part" -lt "$parts" ]; do
      cat < "$inputs/f$i.$part" >> "$files/f$i" || give_up input "$i"
      part=$((part + 1))
    done
    chmod "$mode" "$files/f$i" || give_up input "$i"
    i=$((i + 1))
  done
}

if ! [ -e "$scratch/placed" ]; then
  place_inputs
  make_empty "$scratch/placed" || give_up scratch write
fi
say hello "$CNAB_WANTED"
# The postStart hook waits for this file, and the kubelet for the hook before it starts the invocation.
make_empty "$scratch/ready" || give_up scratch write

# One second at a time: a signal between the test and the sleep is then seen a second later, not at the next beat.
# Not in the foreground, because a trap runs only when the command before it has ended.
seconds=0
while [ -z "$ended" ]; do
  sleep 1 > /dev/null &
  wait $!
  seconds=$((seconds + 1))
  [ $((seconds % beat)) -ne 0 ] || say beat
done
# From here on another one would only cost a line: bash and busybox drop what a signal interrupts the writing of.
trap '' TERM
say ended

# Beats while big files are hashed. Ended before any data line is written: awk's output is not atomic.
beating() {
  seconds=0
  while sleep 1 > /dev/null; do
    seconds=$((seconds + 1))
    [ $((seconds % beat)) -ne 0 ] || say beat
  done
}

# Finds out what is at the wanted path $1, with its digest: sets `entry`, the words of the frame. Sizes are judged before a
# byte is read, because a sparse file of 1 TiB costs its writer nothing and us an hour.
total=0
describe_output() {
  find_output "$1"
  entry=$found
  [ "$found" = file ] || return 0
  if ! size=$(stat -c '%s' "$file"); then entry=unreadable && return 0; fi
  if [ "$size" -gt "$CNAB_MAX_FILE" ] || [ "$size" -gt $((CNAB_MAX_TOTAL - total)) ]; then
    entry="large $size"
    return 0
  fi
  if ! sum=$(sha256sum < "$file"); then entry=unreadable && return 0; fi
  total=$((total + size))
  entry="file $size ${sum%% *}"
  case " $CNAB_UNLOGGED " in
    *" $i "*)
      if ! sum=$(printf '%s %s %s\n' "$salt" "$i" "${sum%% *}" | sha256sum); then entry=unreadable && return 0; fi
      entry="sealed $size ${sum%% *}"
      ;;
  esac
}

# Sends the file number $1 of size $2 at $file, block by block: one process chain for each MiB (35 MB/s; one for each
# line is 1 MB/s). A block is copied first, so that its digest and its lines are of the same bytes.
send_file() {
  before=$(stat -c '%s %Y %Z' "$file")
  blocks=$((($2 + block_bytes - 1) / block_bytes))
  b=0
  while [ "$b" -lt "$blocks" ]; do
    dd if="$file" of="$scratch/block" bs=$block_bytes skip="$b" count=1
    bytes=$(stat -c '%s' "$scratch/block")
    sum=$(sha256sum < "$scratch/block")
    [ "$bytes" -gt 0 ] || break
    lines=$(((bytes + line_chars / 4 * 3 - 1) / (line_chars / 4 * 3)))
    say block "$1" "$b" "$bytes" "$lines" "${sum%% *}"
    base64 -w $line_chars < "$scratch/block" |
      awk -v head="CNABO1 $CNAB_RUN $start data $1 $b " '{ print head (NR - 1) " " $0 " ." }'
    b=$((b + 1))
  done
  [ "$(stat -c '%s %Y %Z' "$file")" = "$before" ] || say changed "$1"
}

# The manifest, before any data: the reader checks limits and disk before it stores a byte.
beating &
beater=$!
make_empty "$scratch/manifest"
i=0
while [ "$i" -lt "$CNAB_WANTED" ]; do
  # The value is a path with any bytes in it; it is expanded once and never evaluated.
  eval "path=\$CNAB_WANTED_$i"
  describe_output "$path"
  printf '%s\n' "entry $i $entry" >> "$scratch/manifest"
  i=$((i + 1))
done
# It ignores SIGTERM as well.
kill -KILL "$beater"
wait "$beater"
while read -r entry; do say "$entry"; done < "$scratch/manifest"
sum=$(sha256sum < "$scratch/manifest")
manifest=${sum%% *}
# For send.sh: from here on it is whole. Before the line, because its reader may ask at once.
printf 1 > "$scratch/told"
say manifest "$CNAB_WANTED" "$manifest"

i=0
while read -r _ i kind size _; do
  [ "$kind" = file ] || continue
  eval "path=\$CNAB_WANTED_$i"
  file=$outputs/$path
  send_file "$i" "$size"
done < "$scratch/manifest"
say end "$manifest"
exit 0
