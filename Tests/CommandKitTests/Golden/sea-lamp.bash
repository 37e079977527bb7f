# bash completion for sea-lamp 4.5, by: sea-lamp --completion bash

_sea_lamp_words() { mapfile -t COMPREPLY < <(compgen -W "$1" -- "$cur"); }
_sea_lamp_files() {
  compopt -o filenames 2> /dev/null || :
  mapfile -t COMPREPLY < <(compgen -f -- "$cur")
}
_sea_lamp_folders() {
  compopt -o filenames 2> /dev/null || :
  mapfile -t COMPREPLY < <(compgen -d -- "$cur")
}

_sea_lamp() {
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
  *)
    case $before in
        --place) :; return ;;
        --place-of-the-second-lamp) :; return ;;
        --folder) _sea_lamp_folders; return ;;
        --chart) _sea_lamp_files; return ;;
        --mode) _sea_lamp_words 'steady flashing'; return ;;
        --completion) _sea_lamp_words 'bash zsh'; return ;;
        *) ;;
    esac
    if [[ $cur == -* ]]; then _sea_lamp_words '--place --place-of-the-second-lamp --folder --chart --mode --help --version --manual --completion'; else :; fi
    if [[ -z $cur && ${#COMPREPLY[@]} == 0 ]]; then _sea_lamp_words '--place --place-of-the-second-lamp --folder --chart --mode --help --version --manual --completion'; fi
    ;;
  esac
}
complete -F _sea_lamp sea-lamp
