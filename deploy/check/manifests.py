"""Checks rendered objects of Kubernetes: python manifests.py [--queries RULES-FILE] FILE

Each has a schema, Kubernetes' own or one of deploy/kubernetes/schemas, and what it says of others is there. Prints what
is found, a line each, and exits with 1 if anything is. --queries writes what autoscalers ask of Prometheus, as rules.
"""

import argparse
import json
import pathlib
import sys
import warnings

import jsonschema
import kubernetes_validate
import yaml

# The oldest with containers that run beside others from the start by default, and the newest that the package knows.
VERSIONS = ("1.29", kubernetes_validate.latest_version())
SCHEMAS = pathlib.Path(__file__).resolve().parents[1] / "kubernetes" / "schemas"
# Made by hand: the head of production/kustomization.yaml says how.
SECRETS_BY_HAND = {"apns-keys", "rabbitmq", "rabbitmq-autoscaler"}

found: list[str] = []


def own_schemas() -> dict[str, dict]:
    schemas = {}
    for path in SCHEMAS.glob("*.schema.json"):
        document = json.loads(path.read_text())
        jsonschema.Draft202012Validator.check_schema(document)
        for name in document["$defs"]:
            if " " in name:
                reference = "#/$defs/" + name.replace("/", "~1").replace(" ", "%20")
                schemas[name] = {"$ref": reference, "$defs": document["$defs"]}
    return schemas


def check_schema(name: str, thing: dict, own: dict[str, dict]) -> None:
    schema = own.get(f"{thing['apiVersion']} {thing['kind']}")
    if schema is not None:
        for error in jsonschema.Draft202012Validator(schema).iter_errors(thing):
            found.append(f"{name}: {error.json_path}: {error.message}")
        return
    for version in VERSIONS:
        try:
            with warnings.catch_warnings():
                # That it has no schema is a warning only.
                warnings.simplefilter("error")
                kubernetes_validate.validate(thing, version, strict=True)
        except kubernetes_validate.ValidationError as error:
            found.append(f"{name}: Kubernetes {version}: {'/'.join(map(str, error.path))}: {error.message}")
        except Exception as error:
            found.append(f"{name}: Kubernetes {version}: {error}")


def pod_of(thing: dict) -> dict | None:
    return thing["spec"]["template"] if thing["kind"] in ("Deployment", "StatefulSet", "Job") else None


def check_pod(name: str, template: dict, claims: list[dict], things: list[dict]) -> None:
    spec = template["spec"]
    names = {kind: {t["metadata"]["name"] for t in things if t["kind"] == kind} for kind in ("ConfigMap", "Secret")}
    names["Secret"] |= SECRETS_BY_HAND
    for volume in spec.get("volumes", []):
        if "configMap" in volume and volume["configMap"]["name"] not in names["ConfigMap"]:
            found.append(f"{name}: there is no ConfigMap {volume['configMap']['name']}")
        if "secret" in volume and volume["secret"]["secretName"] not in names["Secret"]:
            found.append(f"{name}: there is no Secret {volume['secret']['secretName']}")
        if len(volume) != 2:
            found.append(f"{name}: volume {volume['name']} is of more than one kind, or of none")
    volumes = {volume["name"] for volume in spec.get("volumes", [])} | {claim["metadata"]["name"] for claim in claims}
    context = spec.get("securityContext", {})
    if "fsGroup" in context and claims and context.get("fsGroupChangePolicy") != "OnRootMismatch":
        found.append(f"{name}: each mount opens all that it keeps to a group")
    # https://kubernetes.io/docs/concepts/security/pod-security-standards/#restricted
    if not context.get("runAsNonRoot") or context.get("seccompProfile", {}).get("type") != "RuntimeDefault":
        found.append(f"{name}: it may run as root, or with every system call")
    for container in spec.get("initContainers", []) + spec["containers"]:
        own = container.get("securityContext", {})
        if own.get("allowPrivilegeEscalation") is not False or own.get("capabilities", {}).get("drop") != ["ALL"]:
            found.append(f"{name}: container {container['name']} has privileges")
        if not container.get("resources", {}).get("limits", {}).get("memory"):
            found.append(f"{name}: container {container['name']} has no limit of memory")
        for mount in container.get("volumeMounts", []):
            if mount["name"] not in volumes:
                found.append(f"{name}: container {container['name']} mounts {mount['name']}, which is not there")
            if "subPath" in mount:
                found.append(f"{name}: {mount['mountPath']} never changes, since it is mounted by subPath")


def check_selector(name: str, labels: dict, things: list[dict], pods: list[dict]) -> None:
    candidates = [pod["metadata"]["labels"] for pod in pods]
    # Pods of operators, by the labels that these give them.
    candidates += [
        {"app.kubernetes.io/name": thing["metadata"]["name"], "app.kubernetes.io/component": "rabbitmq"}
        for thing in things
        if thing["kind"] == "RabbitmqCluster"
    ]
    if not any(labels.items() <= candidate.items() for candidate in candidates):
        found.append(f"{name}: it selects {labels}, which no pod has")


def check_references(name: str, thing: dict, things: list[dict], pods: list[dict]) -> None:
    spec = thing.get("spec", {})

    def has(kind: str, wanted: str) -> bool:
        return any(t["kind"] == kind and t["metadata"]["name"] == wanted for t in things)

    def want(kind: str, wanted: str) -> None:
        if not has(kind, wanted):
            found.append(f"{name}: there is no {kind} {wanted}")

    match thing["kind"]:
        case "Deployment" | "StatefulSet":
            if not spec["selector"]["matchLabels"].items() <= spec["template"]["metadata"]["labels"].items():
                found.append(f"{name}: it does not select its own pods")
        case "Service":
            check_selector(name, spec["selector"], things, pods)
        case "PodDisruptionBudget":
            # The schema takes any text.
            if spec.get("unhealthyPodEvictionPolicy") not in ("AlwaysAllow", "IfHealthyBudget", None):
                found.append(f"{name}: there is no policy {spec['unhealthyPodEvictionPolicy']}")
            check_selector(name, spec["selector"]["matchLabels"], things, pods)
        case "NetworkPolicy":
            check_selector(name, spec["podSelector"]["matchLabels"], things, pods)
            for peer in [peer for rule in spec.get("egress", []) for peer in rule.get("to", [])]:
                if "podSelector" in peer and "namespaceSelector" not in peer:
                    check_selector(name, peer["podSelector"]["matchLabels"], things, pods)
        case "ServiceMonitor":
            services = [t for t in things if t["kind"] == "Service"]
            labels = spec["selector"]["matchLabels"]
            chosen = [s for s in services if labels.items() <= s["metadata"]["labels"].items()]
            ports = {port["name"] for service in chosen for port in service["spec"]["ports"]}
            # Services of clusters are made by the operator.
            if not has("RabbitmqCluster", labels.get("app.kubernetes.io/name", "")):
                for endpoint in spec["endpoints"]:
                    if endpoint["port"] not in ports:
                        found.append(f"{name}: no service that it selects has a port {endpoint['port']}")
        case "ScaledObject":
            want("Deployment", spec["scaleTargetRef"]["name"])
            if any("replicas" in t["spec"] for t in things if t["kind"] == "Deployment"):
                found.append(f"{name}: each apply undoes what it does, since the deployment says replicas")
            for trigger in spec["triggers"]:
                if "authenticationRef" in trigger:
                    want("TriggerAuthentication", trigger["authenticationRef"]["name"])
        case "User":
            secret = spec.get("importCredentialsSecret", {}).get("name")
            if secret is not None and secret not in SECRETS_BY_HAND and not has("Secret", secret):
                found.append(f"{name}: there is no Secret {secret}")
        case "Permission":
            want("User", spec["userReference"]["name"])
        case "Binding":
            destination = spec.get("destinationType", "queue").capitalize()
            for kind, key in (("Exchange", "source"), (destination, "destination")):
                if not any(t["kind"] == kind and t["spec"].get("name") == spec[key] for t in things):
                    found.append(f"{name}: there is no {kind} named {spec[key]}")
    if "rabbitmqClusterReference" in spec:
        want("RabbitmqCluster", spec["rabbitmqClusterReference"]["name"])


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--queries")
    parser.add_argument("file")
    arguments = parser.parse_args()
    things = [thing for thing in yaml.safe_load_all(pathlib.Path(arguments.file).read_text()) if thing]
    own = own_schemas()
    pods = [pod for pod in map(pod_of, things) if pod is not None]
    seen = set()
    queries = []
    for thing in things:
        name = f"{thing['kind']} {thing['metadata']['name']}"
        if name in seen:
            found.append(f"{name}: it is there twice")
        seen.add(name)
        check_schema(name, thing, own)
        template = pod_of(thing)
        if template is not None:
            check_pod(name, template, thing["spec"].get("volumeClaimTemplates", []), things)
        check_references(name, thing, things, pods)
        if thing["kind"] == "ScaledObject":
            queries += [t["metadata"]["query"] for t in thing["spec"]["triggers"] if t["type"] == "prometheus"]
    if arguments.queries and queries:
        rules = [{"record": f"autoscaler:{index}", "expr": query} for index, query in enumerate(queries)]
        text = yaml.safe_dump({"groups": [{"name": "autoscaler", "rules": rules}]})
        pathlib.Path(arguments.queries).write_text(text)
    for line in found:
        print(line)
    return 1 if found or not things else 0


if __name__ == "__main__":
    sys.exit(main())
