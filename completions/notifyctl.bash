# bash completion for notifyctl. Made by "notifyctl completion"; change the program, not this file.

_notifyctl_files() {
  compopt -o filenames 2> /dev/null
  local IFS=$'\n'
  COMPREPLY=($(compgen "$1" -- "$cur"))
}

_notifyctl() {
  local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD - 1]} command='' i
  COMPREPLY=()
  for ((i = 1; i < COMP_CWORD; i++)); do
    case ${COMP_WORDS[i]} in
      --config) ((i++)) ;;
      --db) ((i++)) ;;
      --log-format) ((i++)) ;;
      --color) ((i++)) ;;
      -*) ;;
      *)
        command=${COMP_WORDS[i]}
        break
        ;;
    esac
  done

  case $prev in
    --config) _notifyctl_files -f; return ;;
    --db) _notifyctl_files -f; return ;;
    --log-format) COMPREPLY=($(compgen -W "text json" -- "$cur")); return ;;
    --color) COMPREPLY=($(compgen -W "auto always never" -- "$cur")); return ;;
  esac

  local options="--config --db --json -q --quiet -v --verbose --log-format --color --help"
  case $command in
    '')
      if [[ $cur == -* ]]; then
        options+=' --version'
      else
        COMPREPLY=($(compgen -W "enqueue relay work park replay cancel reconcile status list show init prune channel recipient check completion help" -- "$cur"))
        return
      fi
      ;;
    enqueue)
      case $prev in
        --channel) return ;;
        --to) return ;;
        --key) return ;;
        --kind) return ;;
        --category) COMPREPLY=($(compgen -W "transactional advertising" -- "$cur")); return ;;
        --correlation) return ;;
        --subject) return ;;
        --body) return ;;
        --body-file) _notifyctl_files -f; return ;;
        --html-file) _notifyctl_files -f; return ;;
        --alt) return ;;
        --data) return ;;
        --template) return ;;
        --var) return ;;
        --not-before) return ;;
        --expires) return ;;
        --priority) return ;;
        --broadcast) return ;;
        --recipients) _notifyctl_files -f; return ;;
        --jsonl) _notifyctl_files -f; return ;;
        --rejects) _notifyctl_files -f; return ;;
      esac
      options+=" --channel --to --key --kind --category --correlation --subject --body --body-file --html-file --alt --data --template --var --not-before --expires --priority --now --wait --broadcast --recipients --jsonl --rejects --atomic"
      ;;
    relay)
      case $prev in
        --batch) return ;;
        --lease) return ;;
        --max) return ;;
        --max-run) return ;;
      esac
      options+=" --batch --lease --max --max-run --watch --dry-run --allow-surge"
      ;;
    work)
      case $prev in
        --channel) return ;;
        --concurrency) return ;;
        --rate) return ;;
        --max) return ;;
        --max-run) return ;;
      esac
      options+=" --channel --concurrency --rate --drain --max --max-run"
      ;;
    park)
      case $prev in
        --reason) return ;;
        --channel) return ;;
        --kind) return ;;
        --since) return ;;
        --until) return ;;
        --key-prefix) return ;;
        --limit) return ;;
      esac
      options+=" --reason --channel --kind --since --until --key-prefix --limit --oldest-first --reveal"
      [[ $cur == -* ]] || { COMPREPLY=($(compgen -W "list show add drop" -- "$cur")); return; }
      ;;
    replay)
      case $prev in
        --channel) return ;;
        --kind) return ;;
        --reason) return ;;
        --since) return ;;
        --until) return ;;
        --key-prefix) return ;;
        --limit) return ;;
        --rate) return ;;
        --why) return ;;
        --expires) return ;;
        --set) return ;;
        --patch) return ;;
      esac
      options+=" --parked --failed --expired --skipped --error --channel --kind --reason --since --until --key-prefix --limit --dry-run --yes --rate --why --expires --accept-duplicates --set --patch --reveal"
      ;;
    cancel)
      case $prev in
        --key-prefix) return ;;
        --broadcast) return ;;
        --why) return ;;
      esac
      options+=" --key-prefix --broadcast --why --dry-run"
      ;;
    reconcile)
      case $prev in
        --receipts) _notifyctl_files -f; return ;;
        --format) return ;;
        --channel) return ;;
      esac
      options+=" --receipts --format --channel --verify"
      ;;
    status)
      case $prev in
        --broadcast) return ;;
        --output) _notifyctl_files -f; return ;;
        --max-age) return ;;
        --max-parked) return ;;
        --max-errors) return ;;
        --max-alerts) return ;;
      esac
      options+=" --broadcast --watch --prometheus --output --check --max-age --max-parked --max-errors --max-alerts"
      ;;
    list)
      case $prev in
        --channel) return ;;
        --kind) return ;;
        --state) return ;;
        --reason) return ;;
        --since) return ;;
        --until) return ;;
        --key-prefix) return ;;
        --limit) return ;;
      esac
      options+=" --channel --kind --state --reason --since --until --key-prefix --limit --oldest-first --reveal"
      [[ $cur == -* ]] || { COMPREPLY=($(compgen -W "outbox queue inbox parked alerts broadcasts" -- "$cur")); return; }
      ;;
    show)
      options+=" --reveal"
      ;;
    init)
      case $prev in
        --source) return ;;
      esac
      options+=" --source --wal --after-restore --yes"
      ;;
    prune)
      case $prev in
        --older-than) return ;;
        --scrub-after) return ;;
      esac
      options+=" --older-than --scrub-after --dry-run"
      ;;
    channel)
      case $prev in
        --reason) return ;;
        --until) return ;;
        --to) return ;;
        --subject) return ;;
        --body) return ;;
        --data) return ;;
      esac
      options+=" --reason --until --to --subject --body --data --dry-run"
      [[ $cur == -* ]] || { COMPREPLY=($(compgen -W "list show pause resume test recipes" -- "$cur")); return; }
      ;;
    recipient)
      case $prev in
        --endpoint) return ;;
        --locale) return ;;
        --group) return ;;
        --channel) return ;;
        --category) COMPREPLY=($(compgen -W "transactional advertising" -- "$cur")); return ;;
        --kind) return ;;
        --reason) return ;;
      esac
      options+=" --endpoint --locale --group --channel --category --kind --reason --reveal"
      [[ $cur == -* ]] || { COMPREPLY=($(compgen -W "import set show opt-out opt-in disable-endpoint" -- "$cur")); return; }
      ;;
    check)
      options+=" --offline --quick"
      ;;
    completion)
      [[ $cur == -* ]] || { COMPREPLY=($(compgen -W "bash zsh fish" -- "$cur")); return; }
      ;;
    help)
      [[ $cur == -* ]] || { COMPREPLY=($(compgen -W "enqueue relay work park replay cancel reconcile status list show init prune channel recipient check completion help" -- "$cur")); return; }
      ;;
  esac
  [[ $cur == -* ]] && COMPREPLY=($(compgen -W "$options" -- "$cur"))
}

complete -F _notifyctl notifyctl
