"""Checks rendered Kubernetes objects: their schemas, their references to other objects, and the security of pods.

Usage: python manifests.py [--queries RULES-FILE] FILE

  --queries   write the Prometheus queries of autoscalers to a file, as recording rules

Schemas are those of Kubernetes and of deploy/kubernetes/schemas. Prints a line for each finding.
Exit status: 0 if nothing was found, 1 if something was or the file has no objects, 2 for a usage error.
"""

import argparse
import json
import pathlib
import sys
import warnings

import jsonschema
import kubernetes_validate
import yaml

# The oldest version that enables sidecar containers by default, and the newest version that the package supports.
VERSIONS = ("1.29", kubernetes_validate.latest_version())
SCHEMAS = pathlib.Path(__file__).resolve().parents[1] / "kubernetes" / "schemas"
# Secrets that operators create with the commands in production/kustomization.yaml.
EXTERNAL_SECRETS = {"apns-keys", "rabbitmq", "rabbitmq-autoscaler"}

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
                # A Python warning counts as a finding, like an exception.
                warnings.simplefilter("error")
                kubernetes_validate.validate(thing, version, strict=True)
        except kubernetes_validate.ValidationError as error:
            found.append(f"{name}: Kubernetes {version}: {'/'.join(map(str, error.path))}: {error.message}")
        except Exception as error:
            found.append(f"{name}: Kubernetes {version}: {error}")


def pod_of(thing: dict) -> dict | None:
    return thing["spec"]["template"] if thing["kind"] in ("Deployment", "StatefulSet", "Job") else None


def generated_secrets(things: list[dict]) -> set[str]:
    """The names of the secrets that the topology operator creates."""
    users = [t for t in things if t["kind"] == "User" and "importCredentialsSecret" not in t["spec"]]
    return {f"{user['metadata']['name']}-user-credentials" for user in users}


def check_pod(name: str, template: dict, claims: list[dict], things: list[dict]) -> None:
    spec = template["spec"]
    names = {kind: {t["metadata"]["name"] for t in things if t["kind"] == kind} for kind in ("ConfigMap", "Secret")}
    names["Secret"] |= EXTERNAL_SECRETS | generated_secrets(things)
    for volume in spec.get("volumes", []):
        if "configMap" in volume and volume["configMap"]["name"] not in names["ConfigMap"]:
            found.append(f"{name}: missing ConfigMap {volume['configMap']['name']}")
        secret = volume.get("secret", {"optional": True})
        if not secret.get("optional") and secret["secretName"] not in names["Secret"]:
            found.append(f"{name}: missing Secret {secret['secretName']}")
        if len(volume) != 2:
            found.append(f"{name}: volume {volume['name']} must have exactly one type")
    volumes = {volume["name"] for volume in spec.get("volumes", [])} | {claim["metadata"]["name"] for claim in claims}
    context = spec.get("securityContext", {})
    if "fsGroup" in context and claims and context.get("fsGroupChangePolicy") != "OnRootMismatch":
        found.append(f"{name}: each mount changes the group of all files; set fsGroupChangePolicy: OnRootMismatch")
    # https://kubernetes.io/docs/concepts/security/pod-security-standards/#restricted
    if not context.get("runAsNonRoot") or context.get("seccompProfile", {}).get("type") != "RuntimeDefault":
        found.append(f"{name}: set runAsNonRoot: true and seccompProfile.type: RuntimeDefault")
    for container in spec.get("initContainers", []) + spec["containers"]:
        own = container.get("securityContext", {})
        if own.get("allowPrivilegeEscalation") is not False or own.get("capabilities", {}).get("drop") != ["ALL"]:
            found.append(f"{name}: container {container['name']} can escalate privileges or has capabilities")
        if not container.get("resources", {}).get("limits", {}).get("memory"):
            found.append(f"{name}: container {container['name']} has no memory limit")
        for variable in container.get("env", []):
            secret = variable.get("valueFrom", {}).get("secretKeyRef", {"optional": True})
            if not secret.get("optional") and secret["name"] not in names["Secret"]:
                found.append(f"{name}: {variable['name']}: missing Secret {secret['name']}")
        for mount in container.get("volumeMounts", []):
            if mount["name"] not in volumes:
                found.append(f"{name}: container {container['name']} mounts a missing volume: {mount['name']}")
            if "subPath" in mount:
                found.append(f"{name}: {mount['mountPath']} is mounted with subPath, so it is never updated")


def check_selector(name: str, labels: dict, things: list[dict], pods: list[dict]) -> None:
    candidates = [pod["metadata"]["labels"] for pod in pods]
    # Pods that an operator creates, with the operator's labels.
    candidates += [
        {"app.kubernetes.io/name": thing["metadata"]["name"], "app.kubernetes.io/component": "rabbitmq"}
        for thing in things
        if thing["kind"] == "RabbitmqCluster"
    ]
    if not any(labels.items() <= candidate.items() for candidate in candidates):
        found.append(f"{name}: no pod has the selected labels {labels}")


def check_references(name: str, thing: dict, things: list[dict], pods: list[dict]) -> None:
    spec = thing.get("spec", {})

    def has(kind: str, wanted: str) -> bool:
        return any(t["kind"] == kind and t["metadata"]["name"] == wanted for t in things)

    def want(kind: str, wanted: str) -> None:
        if not has(kind, wanted):
            found.append(f"{name}: missing {kind} {wanted}")

    match thing["kind"]:
        case "Deployment" | "StatefulSet":
            if not spec["selector"]["matchLabels"].items() <= spec["template"]["metadata"]["labels"].items():
                found.append(f"{name}: the selector does not match the labels of the pod template")
        case "Service":
            check_selector(name, spec["selector"], things, pods)
        case "PodDisruptionBudget":
            # The schema allows any string.
            if spec.get("unhealthyPodEvictionPolicy") not in ("AlwaysAllow", "IfHealthyBudget", None):
                found.append(f"{name}: unknown unhealthyPodEvictionPolicy {spec['unhealthyPodEvictionPolicy']}")
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
            # The operator creates the service of a RabbitMQ cluster.
            if not has("RabbitmqCluster", labels.get("app.kubernetes.io/name", "")):
                for endpoint in spec["endpoints"]:
                    if endpoint["port"] not in ports:
                        found.append(f"{name}: no selected service has a port {endpoint['port']}")
        case "ScaledObject":
            want("Deployment", spec["scaleTargetRef"]["name"])
            if any("replicas" in t["spec"] for t in things if t["kind"] == "Deployment"):
                found.append(f"{name}: the deployment sets replicas, so each apply undoes the scaling")
            for trigger in spec["triggers"]:
                if "authenticationRef" in trigger:
                    want("TriggerAuthentication", trigger["authenticationRef"]["name"])
        case "User":
            secret = spec.get("importCredentialsSecret", {}).get("name")
            if secret is not None and secret not in EXTERNAL_SECRETS and not has("Secret", secret):
                found.append(f"{name}: missing Secret {secret}")
        case "Permission":
            want("User", spec["userReference"]["name"])
        case "Binding":
            destination = spec.get("destinationType", "queue").capitalize()
            for kind, key in (("Exchange", "source"), (destination, "destination")):
                if not any(t["kind"] == kind and t["spec"].get("name") == spec[key] for t in things):
                    found.append(f"{name}: missing {kind} named {spec[key]}")
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
            found.append(f"{name}: duplicate object")
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
