"""Containers and clusters by their grammar."""

from __future__ import annotations

from tests.support.programs import covers_all, covers_none


def test_docker_covers_what_it_is_for() -> None:
    assert covers_all("docker:*", "docker ps -a", "docker logs -f web")
    assert covers_none("docker:*", "docker run x", "docker exec web sh", "docker push x", "docker x")


def test_docker_run_covers_what_it_is_for() -> None:
    assert covers_all("docker run:*", "docker run --rm x")
    assert covers_none("docker run:*", "docker run --privileged x", "docker run -v /:/x x")


def test_kubectl_get_covers_what_it_is_for() -> None:
    assert covers_all("kubectl get:*", "kubectl get pods -n x -o yaml")
    assert covers_none(
        "kubectl get:*", "kubectl get secrets", "kubectl get pods -s http://x", "kubectl get pods --kubeconfig x"
    )


def test_helm_template_covers_what_it_is_for() -> None:
    assert covers_all("helm template:*", "helm template . -f x.yaml")
    assert covers_none("helm template:*", "helm template . --post-renderer x")
