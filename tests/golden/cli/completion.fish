function __heddle_complete
  set -l words (commandline -opc) (commandline -ct)
  set -l offered (heddle __complete -- $words[2..-1] 2>/dev/null)
  if test "$offered[1]" = ":files"
    __fish_complete_path (commandline -ct)
  else
    printf '%s\n' $offered
  end
end
complete -c heddle -f -a '(__heddle_complete)'
