# What an exec in the container of the sidecar runs: `eval "$CNAB_SEND"`, with a verb and its numbers as arguments.
#
#   files A B                   the bytes of the manifest's files with index A to B, in order, nothing between them
#   range INDEX OFFSET LENGTH   bytes of one of them; OFFSET is a multiple of 1 MiB, LENGTH too, or reaches the end
#   digest INDEX OFFSET LENGTH  sha256 of that range (64 hex digits, newline)
#   salt                        what the seals of this start are made with (64 hex digits, newline)
#   done                        everything has arrived: the sidecar may end
#   term                        signals the sidecar that the invocation has ended, where the kubelet does not
#
# Exit code 2: no manifest yet, or not one of its files. 3: the file is not what the manifest says.
# It runs beside the sidecar and writes nothing to its log. Tools and shells as in sidecar.sh.

# The words of a tool would come back in the answer's stead.
exec 2>/dev/null
LC_ALL=C
export LC_ALL
set -f

# Blocks between two signs that somebody listens: a reader that takes nothing for as long as the sidecar's patience is gone.
piece=16

heard() {
  printf 1 > "$scratch/heard"
}

# Sets `size` and `file` of the manifest's file number $1.
open_output() {
  [ -s "$scratch/told" ] || exit 2
  while read -r _ i kind size _; do
    [ "$i" != "$1" ] || break
  done < "$scratch/manifest"
  [ "$i" = "$1" ] || exit 2
  check_output
}

# Looks at the file number $i of kind $kind once more, by the rules of the manifest.
check_output() {
  case $kind in file | sealed) ;; *) exit 2 ;; esac
  # The value is a path with any bytes in it; it is expanded once and never evaluated.
  eval "path=\$CNAB_WANTED_$i"
  find_output "$path"
  [ "$found" = file ] || exit 3
}

# Sends $2 bytes of $file from $1 on.
send_range() {
  at=$(($1 / block_bytes))
  left=$((($2 + block_bytes - 1) / block_bytes))
  while [ "$left" -gt 0 ]; do
    now=$((left < piece ? left : piece))
    dd if="$file" bs=$block_bytes skip="$at" count="$now" || exit 3
    heard
    at=$((at + now))
    left=$((left - now))
  done
}

# Sends the small files that were gathered: two processes for all of them.
send_gathered() {
  [ $# -gt 0 ] || return 0
  [ "$(stat -c '%s' "$@")" = "${sizes%?}" ] || exit 3
  cat "$@" || exit 3
  heard
}

heard
case $1 in
  files)
    [ -s "$scratch/told" ] || exit 2
    first=$2
    last=$3
    sizes=
    set --
    while read -r _ i kind size _; do
      [ "$i" -ge "$first" ] && [ "$i" -le "$last" ] || continue
      case $kind in file | sealed) ;; *) continue ;; esac
      check_output
      if [ "$size" -gt $block_bytes ]; then
        send_gathered "$@"
        sizes=
        set --
        send_range 0 "$size"
        continue
      fi
      sizes=$sizes$size$newline
      set -- "$@" "$file"
      [ $# -ge 64 ] || continue
      send_gathered "$@"
      sizes=
      set --
    done < "$scratch/manifest"
    send_gathered "$@"
    ;;
  range)
    open_output "$2"
    send_range "$3" "$4"
    ;;
  digest)
    open_output "$2"
    sum=$(dd if="$file" bs=$block_bytes skip=$(($3 / block_bytes)) count=$((($4 + block_bytes - 1) / block_bytes)) | sha256sum)
    printf '%s\n' "${sum%% *}"
    ;;
  salt) cat "$scratch/salt" ;;
  done) printf 1 > "$scratch/done" ;;
  term) read -r pid < "$scratch/pid" && kill -TERM "$pid" ;;
  *) exit 2 ;;
esac
