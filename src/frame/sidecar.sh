# The `outputs` sidecar: brings the inputs, waits for the end of the invocation, writes the wanted outputs to its log.
#
# The lines that it writes are described in grammar.ts, the story around them in docs/outputs-protocol.md.
# POSIX sh for busybox (1.35 and later) and for dash or bash with coreutils and awk. Settings: sidecar.ts.
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

# Bytes in a line. With all around its base64 a line is below the 16 KiB at which runtimes cut.
line_bytes=12096
# As in delivery.ts.
small_bytes=$((CNAB_MAX_LOG < 4718592 ? CNAB_MAX_LOG : 4718592))
large_passes=3
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
  sleeper=$!
  ! wait "$sleeper" || sleeper=
  seconds=$((seconds + 1))
  [ $((seconds % beat)) -ne 0 ] || say beat
done
# From here on another one would only cost a line: bash and busybox drop what a signal interrupts the writing of. So does
# the SIGCHLD of a child in the background (busybox), where the log is slow: none may end while a line is written.
trap '' TERM
if [ -n "$sleeper" ]; then
  kill -KILL "$sleeper"
  wait "$sleeper"
fi
say ended

# Beats while big files are hashed. Ended before any data line is written: what awk writes is no whole lines.
beating() {
  seconds=0
  while sleep 1 > /dev/null; do
    seconds=$((seconds + 1))
    [ $((seconds % beat)) -ne 0 ] || say beat
  done
}

# Calls $1 with up to 64 at a time of the files that are outputs (found_<index> is `file`); `members` are their indices.
# Tools are started for many files at once: a process for each is what 200 small files would take their time for.
in_batches() {
  action=$1
  members=
  set --
  i=0
  while [ "$i" -lt "$CNAB_WANTED" ]; do
    eval "found=\$found_$i"
    if [ "$found" = file ]; then
      # The value is a path with any bytes in it; it is expanded once and never evaluated.
      eval "path=\$CNAB_WANTED_$i"
      members="$members $i"
      set -- "$@" "$outputs/$path"
      if [ $# -ge 64 ]; then
        $action "$@"
        members=
        set --
      fi
    fi
    i=$((i + 1))
  done
  [ $# -eq 0 ] || $action "$@"
}

# Sets stat_<index> to size, mtime and ctime; empty where that cannot be had.
note_stats() {
  if stat -c '%s %Y %Z' "$@" > "$scratch/lines"; then
    set -- $members
    while read -r line; do
      eval "stat_$1=\$line"
      shift
    done < "$scratch/lines"
    return
  fi
  for member in $members; do
    line=$(stat -c '%s %Y %Z' "$1") || line=
    eval "stat_$member=\$line"
    shift
  done
}

# Sets sum_<index> to the sha256; empty where the file cannot be read.
note_sums() {
  case $* in
    # With such a name in it, a line of the answer is not what it is elsewhere.
    *\\* | *"$newline"*) ;;
    *)
      if sha256sum "$@" > "$scratch/lines"; then
        set -- $members
        while read -r line _; do
          eval "sum_$1=\$line"
          shift
        done < "$scratch/lines"
        return
      fi
      ;;
  esac
  for member in $members; do
    line=$(sha256sum < "$1") || line=
    eval "sum_$member=\${line%% *}"
    shift
  done
}

# Sizes are judged before a byte is read, because a sparse file of 1 TiB costs its writer nothing and us an hour.
judge_sizes() {
  total=0
  i=0
  while [ "$i" -lt "$CNAB_WANTED" ]; do
    eval "found=\$found_$i line=\$stat_$i"
    size=${line%% *}
    if [ "$found" != file ]; then :
    elif [ -z "$size" ]; then eval "found_$i=unreadable"
    elif [ "$size" -gt "$CNAB_MAX_FILE" ] || [ "$size" -gt $((CNAB_MAX_TOTAL - total)) ]; then
      eval "found_$i=\"large \$size\""
    else
      total=$((total + size))
    fi
    i=$((i + 1))
  done
}

# Writes the entries, in order.
write_entries() {
  i=0
  while [ "$i" -lt "$CNAB_WANTED" ]; do
    eval "found=\$found_$i line=\$stat_$i sum=\$sum_$i"
    if [ "$found" = file ]; then
      found="file ${line%% *} $sum"
      [ -n "$sum" ] || found=unreadable
      case " $CNAB_UNLOGGED " in
        *" $i "*)
          seal=$(printf '%s %s %s\n' "$salt" "$i" "$sum" | sha256sum)
          [ -z "$sum" ] || found="sealed ${line%% *} ${seal%% *}"
          ;;
      esac
    fi
    printf 'entry %s %s\n' "$i" "$found"
    i=$((i + 1))
  done
}

# Writes the sha256 of each block of the file $1 of $2 bytes to sums<index>, for all passes. A file of one block has it already.
digest_blocks() {
  [ "$2" -gt $block_bytes ] || return 0
  eval "path=\$CNAB_WANTED_$1"
  b=0
  while [ $((b * block_bytes)) -lt "$2" ]; do
    dd if="$outputs/$path" bs=$block_bytes skip="$b" count=1 | sha256sum
    b=$((b + 1))
  done > "$scratch/sums$1"
}

# The same for all that may be in the log.
digest_all() {
  i=0
  while [ "$i" -lt "$CNAB_WANTED" ]; do
    eval "found=\$found_$i line=\$stat_$i"
    case "$found $CNAB_UNLOGGED " in
      *" $i "*) ;;
      "file "*) digest_blocks "$i" "${line%% *}" ;;
    esac
    i=$((i + 1))
  done
}

# The manifest, before any data: the reader checks limits and disk before it stores a byte.
beating &
beater=$!
i=0
while [ "$i" -lt "$CNAB_WANTED" ]; do
  eval "path=\$CNAB_WANTED_$i"
  find_output "$path"
  eval "found_$i=\$found stat_$i= sum_$i="
  i=$((i + 1))
done
in_batches note_stats
judge_sizes
# What will surely be sent by the log is read twice at the same time, for its blocks and as a whole.
digested=
if [ "$CNAB_VIA" = log ]; then
  digest_all &
  digested=$!
fi
in_batches note_sums
write_entries > "$scratch/manifest"
sum=$(sha256sum < "$scratch/manifest")
manifest=${sum%% *}
[ -z "$digested" ] || wait "$digested"
while read -r entry; do say "$entry"; done < "$scratch/manifest"
# For send.sh: from here on it is whole. Before the line, because its reader may ask at once.
printf 1 > "$scratch/told"
say manifest "$CNAB_WANTED" "$manifest"
# It ignores SIGTERM as well.
kill -KILL "$beater"
wait "$beater"

# What a pass has to send (files that may be in the log, as long as they fit into it together), and what only an exec can
# get: the same decision as in delivery.ts.
logged_bytes=0
logged_blocks=0
logged=0
all_bytes=0
holds=
make_empty "$scratch/logged"
while read -r entry i kind size sum; do
  case $kind in
    file)
      all_bytes=$((all_bytes + size))
      [ "$size" -gt 0 ] && [ "$size" -le $((CNAB_MAX_LOG - logged_bytes)) ] || continue
      printf '%s\n' "$entry $i $kind $size $sum" >> "$scratch/logged"
      logged=$((logged + 1))
      logged_bytes=$((logged_bytes + size))
      logged_blocks=$((logged_blocks + (size + block_bytes - 1) / block_bytes))
      ;;
    sealed) [ "$size" -eq 0 ] || holds=1 ;;
  esac
done < "$scratch/manifest"

# The log API gives the newest file of a log that was rotated, so what was said once is gone for whoever comes later: a
# second process, or one that was killed before it had the manifest. It comes again every 4 blocks (6 MiB of log) of passes
# that are long enough for a rotation, and every 4 beats after them. 200 outputs are 26 KB, 1.6 MB in an hour; where there
# are more it comes less often, so that no hour costs more than 256 lines a minute do: 2 MB, 2.8 with the runtime's heads.
every=$((4 * (1 + CNAB_WANTED / 256)))
# A small pass is not to be rotated away by that: there the lines of all repeats are counted, 1.5 MB with those heads.
lines_left=8192

give_manifest() {
  cat < "$scratch/manifest"
  printf 'manifest %s %s\n' "$CNAB_WANTED" "$manifest"
}

say_manifest_again() {
  if [ "$passes" -lt $large_passes ]; then
    lines_left=$((lines_left - CNAB_WANTED - 1))
    [ "$lines_left" -ge 0 ] || return 0
  fi
  give_manifest | while read -r line; do say "$line"; done
}

# Gives awk the blocks $1 to $2 - 1 of all that a pass has: a header, then lines of base64.
give_blocks() {
  at=0
  while read -r _ i _ size sum; do
    blocks=$(((size + block_bytes - 1) / block_bytes))
    eval "path=\$CNAB_WANTED_$i"
    # A file of one block has its digest already.
    if [ "$blocks" -eq 1 ]; then sums=/dev/null; else sums=$scratch/sums$i; fi
    b=0
    while [ "$b" -lt "$blocks" ]; do
      [ "$blocks" -eq 1 ] || read -r sum _ <&3
      if [ "$at" -ge "$1" ] && [ "$at" -lt "$2" ]; then
        # All has come by exec in the meantime.
        [ ! -s "$scratch/done" ] || return 0
        [ "$passes" -lt $large_passes ] || [ $((given % every)) -ne 0 ] || give_manifest
        given=$((given + 1))
        bytes=$((size - b * block_bytes < block_bytes ? size - b * block_bytes : block_bytes))
        printf 'block %s %s %s %s %s\n' "$i" "$b" "$bytes" $(((bytes + line_bytes - 1) / line_bytes)) "$sum"
        dd if="$outputs/$path" bs=$block_bytes skip="$b" count=1 | base64 -w $((line_bytes / 3 * 4))
        [ "$made" -eq 0 ] || [ $((given % (8 >> made))) -ne 0 ] || sleep 1
      fi
      b=$((b + 1))
      at=$((at + 1))
    done 3< "$sums"
  done < "$scratch/logged"
}

# Sends all of it once, beginning at the block $1. One process chain for each MiB; one for each line is 1 MB/s.
send_pass() {
  if [ -z "$digested" ]; then
    beating &
    beater=$!
    while read -r _ i _ size _; do digest_blocks "$i" "$size"; done < "$scratch/logged"
    digested=1
    kill -KILL "$beater"
    wait "$beater"
  fi
  given=0
  {
    give_blocks "$1" "$logged_blocks"
    give_blocks 0 "$1"
    # Where the sidecar ends now, what is read afterwards has at least this.
    [ "$passes" -lt $large_passes ] || give_manifest
  } | awk -v head="CNABO1 $CNAB_RUN $start " '
    index($0, " ") { split($0, field, " "); line = 0; print head $0 " ."; next }
    { print head "data " field[2] " " field[3] " " line++ " " $0 " ." }'
  tell_changed
  say end "$manifest"
}

# Says which files are not any more what they were before they were hashed.
tell_changed() {
  while read -r _ i _; do eval "before_$i=\$stat_$i"; done < "$scratch/logged"
  in_batches note_stats
  while read -r _ i _; do
    eval "now=\$stat_$i before=\$before_$i stat_$i=\$before_$i"
    [ "$now" = "$before" ] || say changed "$i"
  done < "$scratch/logged"
}

# Whoever lost lines in the first pass does not keep up with it: each new connection is given the newest file from its start
# on, which at full speed is 150 MB by the time that a kubelet rotates it. So the second pass pauses after every 4 blocks,
# the third after every 2: 3 and 1.7 MiB/s.
#
# What is small is sent at once, and never rotated away. What is more comes up to three times, each time from another block
# on, so that what is lost at one place is not lost there again; between the passes the kubelet has the time to rotate the
# log, and a reader to catch up. Where exec is the way, a pass begins only when nobody has asked for so long that nobody will.
passes=0
[ "$logged" -eq 0 ] || passes=1
[ "$logged_bytes" -le $small_bytes ] || passes=$large_passes
patience=0
if [ "$CNAB_VIA" = log ]; then
  holds=
elif [ "$all_bytes" -gt $small_bytes ]; then
  holds=1
  patience=${CNAB_PATIENCE:-60}
fi
pauses=${CNAB_PAUSES:-15 30}
due=$patience
silent=0
seconds=0
made=0
until [ -s "$scratch/done" ]; do
  if [ "$made" -lt "$passes" ] && [ "$silent" -ge "$due" ]; then
    send_pass $((logged_blocks * made / passes))
    made=$((made + 1))
    silent=0
    due=${pauses%% *}
    pauses=${pauses#* }
    continue
  fi
  [ "$made" -lt "$passes" ] || [ -n "$holds" ] || break
  sleep 1
  silent=$((silent + 1))
  seconds=$((seconds + 1))
  [ $((seconds % beat)) -ne 0 ] || say beat
  [ $((seconds % (beat * every))) -ne 0 ] || say_manifest_again
  if [ -s "$scratch/heard" ]; then
    make_empty "$scratch/heard"
    silent=0
    due=$patience
  fi
done
[ "$made" -gt 0 ] || say end "$manifest"
exit 0
