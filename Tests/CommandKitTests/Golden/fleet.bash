# bash completion for fleet 1.2.3, by: fleet completion bash

_fleet_words() { mapfile -t COMPREPLY < <(compgen -W "$1" -- "$cur"); }
_fleet_files() {
  compopt -o filenames 2> /dev/null || :
  mapfile -t COMPREPLY < <(compgen -f -- "$cur")
}

_fleet() {
  local cur=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]} line
  COMPREPLY=()
  # bash splits --name=value into three words.
  if [[ $cur == '=' ]]; then
    cur=
  elif [[ $before == '=' ]]; then
    before=${COMP_WORDS[COMP_CWORD - 2]}
  fi
  line=" ${COMP_WORDS[*]:1:COMP_CWORD - 1} "
  case $line in
  ' launch '*)
    case $before in
        --map) _fleet_files; return ;;
        --pilot) :; return ;;
        --crew) :; return ;;
        --signal) _fleet_words 'red green'; return ;;
        --note) :; return ;;
        *) ;;
    esac
    if [[ $cur == -* ]]; then _fleet_words '--map --pilot --crew --signal --dry-run --note --help'; else :; fi
    if [[ -z $cur && ${#COMPREPLY[@]} == 0 ]]; then _fleet_words '--map --pilot --crew --signal --dry-run --note --help'; fi
    ;;
  ' harbor list '*)
    case $before in
        --map) _fleet_files; return ;;
        *) ;;
    esac
    if [[ $cur == -* ]]; then _fleet_words '--map --help'; else :; fi
    if [[ -z $cur && ${#COMPREPLY[@]} == 0 ]]; then _fleet_words '--map --help'; fi
    ;;
  ' harbor open '*)
    case $before in
        *) ;;
    esac
    if [[ $cur == -* ]]; then _fleet_words '--help'; else _fleet_words 'north south'; fi
    if [[ -z $cur && ${#COMPREPLY[@]} == 0 ]]; then _fleet_words '--help'; fi
    ;;
  ' log '*)
    case $before in
        *) ;;
    esac
    if [[ $cur == -* ]]; then _fleet_words '--help'; else _fleet_files; fi
    if [[ -z $cur && ${#COMPREPLY[@]} == 0 ]]; then _fleet_words '--help'; fi
    ;;
  ' man '*)
    case $before in
        *) ;;
    esac
    if [[ $cur == -* ]]; then _fleet_words '--help'; else _fleet_words 'launch harbor list open log man'; fi
    if [[ -z $cur && ${#COMPREPLY[@]} == 0 ]]; then _fleet_words '--help'; fi
    ;;
  ' harbor ') _fleet_words 'list open' ;;
  ' help ') _fleet_words 'launch harbor log man' ;;
  '  ') _fleet_words 'launch harbor log man help --help --version' ;;
  esac
}
complete -F _fleet fleet
