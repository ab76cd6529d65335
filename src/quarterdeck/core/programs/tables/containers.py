"""Containers and clusters: docker, kubectl and helm, by their `--help`."""

from __future__ import annotations

SHARED = {
    "container": (
        "-d -i -t -e= -u= -w= -h= -l= -m= -p= -P -q -it -n= --detach --interactive --tty --rm --init --name= --env= "
        "--env-file= --user= --workdir= --publish= --publish-all --expose= --hostname= --label= --label-file= "
        "--memory= --memory-swap= --memory-reservation= --cpus= --cpu-shares= --cpuset-cpus= --gpus= --platform= "
        "--pull= --quiet --read-only --restart= --shm-size= --stop-signal= --stop-timeout= --tmpfs= --ulimit= "
        "--network-alias= --no-healthcheck --health-cmd= --health-interval= --health-retries= --health-timeout= "
        "--health-start-period= --entrypoint= --ip= --add-host= --dns= --log-driver=!s --log-opt=!s --link= "
        "--mac-address= --sig-proxy=? --pids-limit= --cidfile=> --cap-drop= -v=:volume --volume=:volume "
        "--mount=:mount --privileged!o --cap-add=!o --device=!o --pid=!o --ipc=!o --userns=!o --uts=!o "
        "--network=:network --net=:network --security-opt=!o --sysctl=!o --runtime=!x --volumes-from=!o "
        "--group-add=!o --cgroupns=!o --cgroup-parent=!o --device-cgroup-rule=!o --volume-driver=!x "
        "--use-api-socket!c --attach= -a= --detach-keys= --oom-kill-disable"
    ),
    "containers": (
        "-a -f -t= -s= -v -l -i -m= -c= -p= -d= --all --force --time= --timeout= --signal= --volumes --link "
        "--filter= --no-prune --driver= --label= --name= --subnet= --gateway= --alias= --attach --interactive "
        "--message= --author= --change= --pause=? --memory= --cpus= --restart= --no-stdin --sig-proxy=? --internal "
        "--ipv6 --attachable"
    ),
    "build": (
        "-t= -q -f=@ --tag= --file=@ --build-arg= --target= --no-cache --pull --quiet --progress= --platform= "
        "--label= --load --cache-from= --force-rm --rm=? --compress --squash --network=:network --no-cache-filter= "
        "--add-host= --shm-size= --memory= -m= --iidfile=> --metadata-file=> --build-context=:named_context "
        "--provenance=? "
        "--sbom=? --check --push!s -o=:buildx --output=:buildx --cache-to=!s --secret=!c --ssh=!c --allow=!x "
        "--builder=!x --ulimit= --isolation= -D --call= --annotation="
    ),
    "compose": (
        "-f=@ -p= -c= --file=@ --project-name= --project-directory=@ --profile= --env-file=:text --ansi= "
        "--compatibility --dry-run --parallel= --progress= --all-resources --verbose -v --version -h --help"
    ),
    "kubectl": (
        "-n= -A -l= -o= -w -f=:manifest -k=:manifest -R -L= -c= -p -v= -h --namespace= --all-namespaces --selector= "
        "--output= --watch --watch-only --filename=:manifest --kustomize=:manifest --recursive --label-columns= "
        "--no-headers --show-labels --show-kind --show-managed-fields --sort-by= --subresource= --template= "
        "--field-selector= --ignore-not-found --chunk-size= --output-watch-events --server-print=? "
        "--allow-missing-template-keys --raw= --container= --follow --previous --prefix --since= --since-time= "
        "--tail= --timestamps --limit-bytes= --max-log-requests= --all-containers=? --all-pods --ignore-errors "
        "--insecure-skip-tls-verify-backend --pod-running-timeout= --show-events=? --containers --sum "
        "--api-version= --for= --types= --timeout= --revision= --request-timeout= --context= --match-server-version "
        "--disable-compression --log-flush-frequency= --vmodule= --warnings-as-errors --cluster= --user= --verbs= "
        "--namespaced=? --api-group= --categories= --cached --list --quiet -q --client --short --minify --flatten "
        "--merge=? --help --server-side --field-manager= --concurrency= --use-protocol-buffers -s=!c --server=!c "
        "--kubeconfig=!x --token=!c --as=!c --as-group=!c --as-uid=!c --username=!c --password=!c "
        "--certificate-authority=!c --client-certificate=!c --client-key=!c --tls-server-name=!c "
        "--insecure-skip-tls-verify!c --cache-dir=!o --profile=!o --profile-output=!o"
    ),
    "change": (
        "--dry-run=? --force --grace-period= --cascade=? --wait=? --now --all --overwrite --prune "
        "--prune-allowlist= --validate=? --force-conflicts --openapi-patch --save-config --replicas= "
        "--current-replicas= --to-revision= --type= --patch= --patch-file= --record --image= --restart= --port= "
        "--target-port= --env= -e= --from-literal= --from-file= --from-env-file= --schedule= --min= --max= "
        "--cpu-percent= --local --interactive -i --ignore-daemonsets --delete-emptydir-data --pod-selector= "
        "--disable-eviction --resource-version= --edit --class= --rule= --tcp= --append-hash --labels= -r= "
        "--requests= --limits= --selector="
    ),
    "helm": (
        "-n= -f=:manifest -o= -a -A -q -l= -m= -r -d -h -i -g --namespace= --values=:manifest --output= --set= "
        "--set-string= --set-file=:set_file --set-json= --set-literal= --all --all-namespaces --short --filter= "
        "--selector= "
        "--max= --offset= --revision= --version= --devel --include-crds --skip-crds --skip-tests --no-hooks "
        "--show-only= -s= --name-template= --generate-name --release-name --api-versions= --kube-version= "
        "--is-upgrade --validate --strict --with-subcharts --quiet --debug --dry-run=? --wait=? --wait-for-jobs "
        "--timeout= --atomic --cleanup-on-fail --force --install --create-namespace --reset-values --reuse-values "
        "--reset-then-reuse-values --history-max= --description= --labels= --dependency-update "
        "--render-subchart-notes --hide-notes --hide-secret --keep-history --ignore-not-found --cascade= "
        "--kube-context= --time-format= --date --reverse --pending --failed --deployed --superseded --uninstalled "
        "--uninstalling --replace --verify --disable-openapi-validation --help --burst-limit= --qps= --logs "
        "--output-dir=> --post-renderer=!x --post-renderer-args=!x --kubeconfig=!x --kube-apiserver=!c "
        "--kube-token=!c --kube-as-user=!c --kube-as-group=!c --kube-ca-file=!c --kube-insecure-skip-tls-verify!c "
        "--kube-tls-server-name=!c --registry-config=!c --repository-config=!x --repository-cache=!o --repo=!s "
        "--username=!c --password=!c --ca-file=!c --cert-file=!c --key-file=!c --insecure-skip-tls-verify!s "
        "--pass-credentials!c --plain-http!s --keyring=!c"
    ),
}

ROWS = """
docker · read · - · -D -v -l= --debug --version --log-level= --help -H=!c --host=!c -c=!c --context=!c --config=!x
 --tls!c --tlscacert=!c --tlscert=!c --tlskey=!c --tlsverify!c --connection=!c --url=!c --remote!c --namespace=
docker ps|docker images|docker logs|docker inspect|docker stats|docker top|docker port|docker diff|docker
 history|docker version|docker info|docker events|docker container ls|docker container list|docker container ps|docker
 container logs|docker container inspect|docker container stats|docker container top|docker container port|docker
 container diff|docker image ls|docker image list|docker image inspect|docker image history|docker volume ls|docker
 volume list|docker volume inspect|docker network ls|docker network list|docker network inspect|docker system df|docker
 system info|docker system events|docker context ls|docker context show|docker context inspect|docker buildx ls|docker
 buildx du|docker buildx inspect|docker buildx version|docker manifest inspect|docker node ls|docker node ps|docker
 service ls|docker service ps|docker service logs|docker stack ls|docker stack ps|docker stack services|docker plugin
 ls|docker wait|docker scout quickview|docker pod ps|docker pod ls · read · - · -a -f= -n= -l -q -s -t --all --filter=
 --format= --last= --latest --no-trunc --quiet --size --details --follow --since= --tail= --timestamps --until=
 --digests --tree --type= --no-stream --verbose -v --raw --no-resolve --bootstrap
docker logs|docker container logs|docker service logs · read · - · -f -n= -t --details --follow --since= --tail=
 --timestamps --until=
docker search|docker pull|docker image pull|docker scout * · fetch · - · -q -a --all-tags --quiet --platform=
 --disable-content-trust=? --filter= --limit= --no-trunc --format=
docker build|docker image build|docker buildx build|docker builder build · write project fetch · :context · @build
docker buildx bake · project fetch · :context · -f=@ --file=@ --print --load --no-cache --pull --progress= --set=!x
 --push!s
docker run|docker create|docker container run|docker container create · write fetch stop · :image!r · @container
docker exec|docker container exec · operand stop · - · -d -i -t -e= -u= -w= -it --detach --interactive --tty --env=
 --env-file= --user= --workdir= --privileged!o --detach-keys=
docker start|docker stop|docker restart|docker kill|docker pause|docker unpause|docker rm|docker rmi|docker container
 start|docker container stop|docker container restart|docker container kill|docker container rm|docker image rm|docker
 volume rm|docker network rm · write each · - · @containers
docker rename|docker tag|docker container prune|docker image prune|docker image tag|docker volume create|docker
 volume prune|docker network create|docker network prune|docker network connect|docker network disconnect|docker
 system prune|docker builder prune|docker buildx prune|docker update|docker attach|docker commit · write · - ·
 @containers
docker cp|docker container cp · outside · - · -a -L -q --archive --follow-link --quiet
docker save|docker export|docker image save|docker container export · write · - · -o=> --output=> --platform=
docker load|docker import|docker push|docker image push|docker image load|docker image import|docker login|docker
 logout|docker plugin *|docker context *|docker swarm *|docker service *|docker stack *|docker secret *|docker config
 *|docker node *|docker trust *|docker checkpoint *|docker manifest *|docker buildx *|docker builder *|docker scout
 *|docker extension *|docker desktop *|docker init|docker debug|docker sbom|docker machine *|docker play *|docker kube
 *|docker generate *|docker unshare|docker system *|docker pod *|docker mcp *|docker model * · program send · - · -
docker compose|docker-compose|podman-compose · project · - · @compose
docker compose ps|docker compose logs|docker compose ls|docker compose images|docker compose top|docker compose
 port|docker compose events|docker compose version|docker compose config|docker compose convert|docker compose
 stats|docker compose volumes|docker-compose ps|docker-compose logs|docker-compose images|docker-compose
 top|docker-compose port|docker-compose config|docker-compose version|docker-compose ls|podman-compose
 ps|podman-compose logs · read · - · @compose -a -q -t -n= --all --quiet --filter= --format= --services --status=
 --no-trunc --orphans=? --follow --since= --tail= --timestamps --until= --no-color --no-log-prefix --index=
 --no-interpolate --no-normalize --no-path-resolution --resolve-image-digests --hash= --images --profiles --volumes
 --variables --environment!c --protocol= --json --no-stream -o=> --output=> --dry-run
docker compose logs|docker-compose logs|podman-compose logs · read · - · -f -n= -t --follow --since= --tail=
 --timestamps --until= --no-color --no-log-prefix --index=
docker compose up|docker compose start|docker compose stop|docker compose restart|docker compose down|docker compose
 build|docker compose create|docker compose rm|docker compose kill|docker compose pause|docker compose unpause|docker
 compose wait|docker compose watch|docker compose scale|docker-compose up|docker-compose start|docker-compose
 stop|docker-compose restart|docker-compose down|docker-compose build|docker-compose create|docker-compose
 rm|docker-compose kill|docker-compose scale|podman-compose up|podman-compose down|podman-compose build · project · - ·
 -d -q -s= -t= -v -V -y -m= -f --detach --build --no-build --force-recreate --no-recreate --no-deps --remove-orphans
 --abort-on-container-exit --abort-on-container-failure --exit-code-from= --attach= --no-attach= --attach-dependencies
 --always-recreate-deps --renew-anon-volumes --scale= --timeout= --wait --wait-timeout= --watch --no-start
 --no-log-prefix --no-color --pull=? --quiet-pull --quiet-build --timestamps --menu=? --yes --volumes --rmi= --no-cache
 --build-arg= --parallel --quiet --memory= --progress= --with-dependencies --builder=!x --push!s --ssh=!c --signal=
 --stop --force --no-prune --no-up --down-project --dry-run
docker compose pull|docker-compose pull|podman-compose pull · fetch · - · -q --quiet --ignore-pull-failures
 --include-deps --ignore-buildable --policy= --no-parallel
docker compose exec|docker compose run|docker-compose exec|docker-compose run · operand stop · - · -d -e= -T -t -i -u=
 -w= -p= -P -l= --detach --env= --no-TTY --no-tty --tty --interactive=? --index= --user= --workdir= --rm --no-deps
 --name= --service-ports --publish= --use-aliases --build --quiet-pull --quiet-build --remove-orphans --label=
 --entrypoint= --env-from-file= --pull= --privileged!o --cap-add=!o -v=:volume --volume=:volume
docker compose cp|docker compose push|docker compose publish|docker compose commit|docker compose export|docker compose
 attach|docker compose bridge *|docker-compose push|docker-compose cp · program send outside · - · -
kubectl · fetch inherit · - · @kubectl
kubectl get|kubectl describe · fetch · :resources · @kubectl --raw=!c
kubectl logs|kubectl top pod|kubectl top pods|kubectl top node|kubectl top nodes|kubectl explain|kubectl
 api-resources|kubectl api-versions|kubectl version|kubectl cluster-info|kubectl events|kubectl rollout status|kubectl
 rollout history|kubectl auth can-i|kubectl auth whoami|kubectl config get-contexts|kubectl config
 current-context|kubectl config get-clusters|kubectl config get-users|kubectl wait|kubectl
 options|kubectl completion|kubectl help|kubectl plugin list · fetch · - · @kubectl -t!c --show-token!c --enable-exec!x
 --enable-helm!x --load-restrictor=!x
kubectl kustomize · read · :manifest · @kubectl -o=> --output=> --enable-exec!x --enable-helm!x --load-restrictor=!x
 -e=!x --env=!x --helm-command=!x --mount=!x --network!x --as-current-user!x
kubectl logs · fetch · - · -f --follow
kubectl config view · read · - · @kubectl --raw!c
kubectl config * · write outside · - · @kubectl
kubectl diff · fetch · - · @kubectl --prune --force-conflicts
kubectl apply|kubectl delete|kubectl create|kubectl edit|kubectl patch|kubectl replace|kubectl scale|kubectl
 autoscale|kubectl label|kubectl annotate|kubectl expose|kubectl set *|kubectl taint|kubectl drain|kubectl
 cordon|kubectl uncordon|kubectl rollout restart|kubectl rollout undo|kubectl rollout pause|kubectl rollout
 resume|kubectl create *|kubectl certificate * · send · :manifests · @kubectl @change
kubectl apply|kubectl create|kubectl replace · send · :manifests · -f=:manifest --filename=:manifest
 -k=:manifest --kustomize=:manifest --raw=!c
kubectl delete|kubectl scale|kubectl rollout restart|kubectl rollout undo|kubectl cordon|kubectl uncordon|kubectl
 drain · send each2 · :manifests · -f=:more_manifests --filename=:more_manifests -k=:more_manifests
 --kustomize=:more_manifests --all!m -A!m --all-namespaces!m -l=!m --selector=!m --raw=!c
kubectl exec|kubectl run|kubectl debug|kubectl attach|kubectl cp|kubectl plugin *|kubectl alpha * · program send
 outside · - · @kubectl -i -t -it --stdin --tty --rm --image= --restart= --command --address= --
kubectl port-forward|kubectl proxy · outside · - · @kubectl --address= --port= -p= --www= --api-prefix=
 --accept-hosts=!o
helm · fetch inherit · - · @helm
helm list|helm ls|helm status|helm history|helm get values|helm get notes|helm get hooks|helm get metadata|helm search
 hub|helm search repo|helm show *|helm version|helm env|helm repo list|helm dependency list|helm dep list|helm
 verify|helm plugin list · fetch · - · @helm
helm get manifest|helm get all · fetch secret · - · @helm
helm diff * · fetch · - · @helm
helm template|helm lint · read · :chart · @helm
helm dependency update|helm dependency build|helm dep update|helm dep build|helm package|helm pull|helm
 fetch · write fetch · - · @helm -d=> --destination=> --untar --untardir=> --skip-refresh --app-version= --prov
helm create · write · > · @helm -p=@ --starter=@
helm install|helm upgrade|helm rollback|helm test · send · :chart · @helm
helm uninstall|helm delete · send each · - · @helm
helm repo *|helm plugin *|helm registry *|helm push · program send · - · @helm
"""
