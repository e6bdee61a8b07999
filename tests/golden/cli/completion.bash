_heddle() {
  local line
  COMPREPLY=()
  while IFS= read -r line; do
    COMPREPLY+=("$line")
  done < <(heddle __complete -- "${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
  if [ "${#COMPREPLY[@]}" -eq 1 ] && [ "${COMPREPLY[0]}" = ":files" ]; then
    COMPREPLY=()
    compopt -o default
  fi
}
complete -F _heddle heddle
