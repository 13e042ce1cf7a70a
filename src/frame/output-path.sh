# Where things are, and what is at a wanted path. Stands before sidecar.sh and before send.sh: both go by the same rules.
# CNAB_ROOT is empty in a pod; elsewhere it is put before the three folders.
outputs=$CNAB_ROOT/cnab/app/outputs
inputs=$CNAB_ROOT/cnab-in
files=$CNAB_ROOT/cnab-files
scratch=$files/.cnab
block_bytes=1048576
newline='
'

# Finds out what is at the wanted path $1 and sets `found` (the words of its entry without size and digest) and `file`.
# Nothing is opened here, and no symbolic link is followed: the test of each component comes before its use.
# The writers are dead by now, so nothing changes between the two.
entered=
find_output() {
  rest=$1
  file=$outputs
  while :; do
    if ! [ -d "$file" ]; then found=missing && return; fi
    # A folder that cannot be entered hides what is in it; `test -x` is no answer, it says yes to every root.
    # Once for all outputs in it: each time is a process, and whoever is deeper in has come through here.
    case $entered/ in
      "$file"/*) ;;
      *)
        if ! (cd "$file"); then found=unreadable && return; fi
        entered=$file
        ;;
    esac
    file=$file/${rest%%/*}
    case $rest in
      */*) rest=${rest#*/} ;;
      *) break ;;
    esac
    if [ -L "$file" ]; then found='special link-above' && return; fi
  done
  if [ -L "$file" ]; then found='special symlink'
  elif [ -f "$file" ]; then found=file
  elif [ -d "$file" ]; then found='special directory'
  elif [ -p "$file" ]; then found='special fifo'
  elif [ -S "$file" ]; then found='special socket'
  elif [ -b "$file" ] || [ -c "$file" ]; then found='special device'
  elif [ -e "$file" ]; then found='special other'
  else found=missing
  fi
}
