"""Commands that run and administer Quarterdeck.

audit           audit
config          config
daemon          up, daemon, stop, status
demo            demo
demo_home       the temporary homes of demos
doctor          the checks of doctor
export          export
install         install, uninstall, doctor
login_service   service install, remove, status
notify          notify
replay          replay
shell_help      completion, help, version"""
