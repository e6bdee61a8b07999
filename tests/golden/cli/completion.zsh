#compdef heddle
_heddle() {
  local -a offered
  offered=("${(@f)$(heddle __complete -- "${(@)words[2,CURRENT]}" 2>/dev/null)}")
  if [[ "${offered[1]}" == ":files" ]]; then
    _files
  else
    compadd -- "${(@)offered:#}"
  fi
}
compdef _heddle heddle
