"""The grammars of programs, as text: one module per family.

builds      compilers and build tools
cloud       infrastructure and clouds
containers  containers and clusters
databases   database clients
files       programs that find, pack, copy and delete files
filters     filters of text, and their scripts
forges      GitHub and GitLab
git         Git
javascript  JavaScript's package managers, linters and test runners
network     programs that speak to other machines
python      Python's tools and package managers
system      programs that look at this machine, or start another program
"""
