import AMQP
import AdminHTTP
import BrokerTopology
import CommandKit
import Crypto
import Delivery
import EventLoop
import Glibc
import JSON
import TestKit
import Testing
import YAML

@testable import Configuration
@testable import ControlProtocol
@testable import MartletCLI
@testable import Worker

/// The agreement of the container files in `deploy` with the worker's behavior.
///
/// `deploy/check/manifests` checks that Kubernetes and Compose accept the files.
@Suite struct DeploymentFileTests {
    private static let kubernetes = "deploy/kubernetes"
    private static let configurations = [
        "deploy/container/compose/martlet.yaml", "deploy/kubernetes/demonstration/martlet.yaml",
        "deploy/kubernetes/production/martlet.yaml",
    ]

    // MARK: The configurations

    @Test(arguments: configurations)
    func aWorkerAcceptsTheConfiguration(_ path: String) throws {
        let configuration = try Self.configuration(path)
        let listen = try #require(configuration.admin.listen)
        // The loopback address of a container is unreachable from outside.
        #expect(listen == Endpoint(host: "0.0.0.0", port: WorkerConfiguration.Admin.defaultEndpoint.port))
        #expect(configuration.broker.url.credentials.password == (path.contains("compose") ? "martlet" : "secret"))
    }

    // The ports of the clusters' consoles are forwarded to the pod, so these consoles need no other address.
    @Test(arguments: configurations)
    func aConsoleAcceptsTheConfiguration(_ path: String) throws {
        let resolver = ReferenceResolver(environment: { $0 }, readFile: { _ in [] })
        let isPublished = path.contains("compose")
        let configuration = try ConfigurationFile(Products.file(path), resolver: resolver).console()
        let port = ConsoleConfiguration.defaultEndpoint.port
        #expect(configuration.listen == .address(Endpoint(host: isPublished ? "0.0.0.0" : "127.0.0.1", port: port)))
        #expect(configuration.history != nil)
        let user = configuration.broker.url.credentials.user
        #expect(user == (isPublished ? "martlet" : "CONSOLE_USER"))
    }

    @Test func theConsolesManifestsAgreeWithItsConfiguration() throws {
        let set = try Self.object("StatefulSet", in: "console/stateful-set.yaml").root
        #expect(set.at(pointer: "/spec/replicas")?.int == 1)
        let container = try #require(set.at(pointer: "/spec/template/spec/containers/0"))
        #expect(container.at(pointer: "/ports/0/containerPort")?.int == Int(ConsoleConfiguration.defaultEndpoint.port))
        let words = try #require(container["args"]).elements.compactMap(\.string)
        #expect(try Program.martlet.command(words, as: ConsoleCommand.self).configPath == "/etc/martlet/martlet.yaml")
        let variables = try #require(container["env"]).elements.compactMap { $0["name"]?.string }
        for overlay in ["demonstration", "production"] {
            let text = try Self.text("\(Self.kubernetes)/\(overlay)/martlet.yaml")
            #expect(text.matches(of: /\$\{(\w+)\}/).map { String($0.output.1) } == variables)
        }
        let compose = try YAMLDocument(Self.text("deploy/container/compose.yaml")).root
        let volume = try #require(compose.at(pointer: "/services/console/volumes/1")?.string)
            .replacing("console:", with: "")
        let mounts = try #require(container["volumeMounts"]).elements.compactMap { $0["mountPath"]?.string }
        #expect(mounts.contains(volume))
        // The image has the folder, whose owner a new volume gets.
        #expect(try Dockerfile().values("RUN", of: "martlet").contains { $0.hasSuffix(" \(volume)") })
    }

    // A secret's mount path is in two files, which must agree.
    @Test(arguments: ["demonstration", "production"])
    func filesAreWhereTheyAreMounted(_ overlay: String) throws {
        let text = try Self.text("\(Self.kubernetes)/\(overlay)/martlet.yaml")
        let folders = text.matches(of: /(?:file:|_file: )(\/run\/secrets\/[a-z]+)\//).map { String($0.output.1) }
        let mounts = try Self.container().mounts
        #expect(folders.count >= 3)
        #expect(Set(folders).isSubset(of: mounts))
        #expect(mounts.contains("/etc/martlet"))
    }

    /// The demonstrations' simulator writes the files that their configurations name.
    @Test func simulatorsWriteWhatWorkersRead() async throws {
        let directory = try TemporaryDirectory("demo")
        let arguments = try Dockerfile().command("apns-simulator").map { argument in
            argument == "/demo" ? directory.path : argument.replacing(/^0\.0\.0\.0:\d+$/, with: "127.0.0.1:0")
        }
        let simulator = try await ChildProcess([try Products.executable("apns-simulator")] + arguments)
        let line = try await simulator.output.line { $0.contains(#""event":"ready""#) }
        let ready = try JSONDocument(line).root
        let names = try Files.names(in: directory.path)
        for path in Self.configurations.prefix(2) {
            let root = try YAMLDocument(Self.text(path)).root
            let key = try #require(root["apns"]?["keys"]?.elements.first { _ in true })
            for member in ["key_id", "team_id"] {
                #expect(key[key: member]?.string == ready[key: member]?.string, "\(path): \(member)")
            }
            let app = try #require(ready["topic"]?.string)
            #expect(root["apps"]?[key: app]?["environment"]?.string == "sandbox", "\(path)")
            let files = try Self.text(path).matches(of: /_file: \/[a-z\/]+\/([^\/\n]+)\n/).map { String($0.output.1) }
            #expect(files.count == 2)
            #expect(Set(files).isSubset(of: names), "\(path)")
        }
    }

    @Test func simulatorsListenAtTheConfiguredPorts() async throws {
        let help = try await ChildProcess.run([try Products.executable("apns-simulator"), "--help"]).output
        let defaults = Set(help.joined().matches(of: /\(127\.0\.0\.1:(\d+)\)/).map { String($0.output.1) })
        let file = try Dockerfile()
        let arguments = try file.command("apns-simulator").joined(separator: " ")
        #expect(Set(arguments.matches(of: /0\.0\.0\.0:(\d+)/).map { String($0.output.1) }) == defaults)
        let exposed = file.values("EXPOSE", of: "apns-simulator").flatMap { $0.split(separator: " ") }
        #expect(Set(exposed.map(String.init)) == defaults)
        for path in Self.configurations.prefix(2) {
            let port = try Self.configuration(path).apns.sandbox.endpoint.port
            #expect(defaults.contains("\(port)"))
        }
    }

    // MARK: Ports, probes, and time

    @Test func allManifestsUseTheAdminPort() throws {
        let port = Int(WorkerConfiguration.Admin.defaultEndpoint.port)
        let container = try Self.container()
        #expect(container.value.at(pointer: "/ports/0/name")?.string == "admin")
        #expect(container.value.at(pointer: "/ports/0/containerPort")?.int == port)
        let service = try Self.object("Service", in: "base/service.yaml")
        #expect(service.root.at(pointer: "/spec/ports/0/port")?.int == port)
        // Prometheus must also find workers that are not ready.
        #expect(service.root.at(pointer: "/spec/publishNotReadyAddresses")?.bool == true)
        let monitor = try Self.object("ServiceMonitor", in: "base/service-monitor.yaml")
        #expect(monitor.root.at(pointer: "/spec/endpoints/0/port")?.string == "admin")
        #expect(monitor.root.at(pointer: "/spec/endpoints/0/path")?.string == "/metrics")
        let policy = try Self.object("NetworkPolicy", in: "base/network-policy.yaml")
        #expect(policy.root.at(pointer: "/spec/ingress/0/ports/0/port")?.string == "admin")
        let prometheus = try YAMLDocument(Self.text("deploy/container/compose/prometheus.yaml")).root
        #expect(prometheus.at(pointer: "/scrape_configs/0/dns_sd_configs/0/port")?.int == port)
        #expect(try Dockerfile().values("EXPOSE", of: "martlet") == ["\(port)"])
    }

    @Test func probesUseExistingCommands() throws {
        let routes = WorkerRoutes(
            status: { _ in }, stalledLanes: { [] }, metrics: { _ in "" }, pause: { _, _, _ in },
            changeStore: { _, _ in })
        #expect(Set(routes.views.map(\.path)).isSuperset(of: ["/metrics", "/livez", "/status"]))
        let container = try Self.container().value
        // Probes use the control socket, because clients of the admin port could delay an HTTP probe.
        for (probe, options) in [
            ("startupProbe", StatusCommand.Options(checksLiveness: true)),
            ("livenessProbe", StatusCommand.Options(checksLiveness: true)),
            ("readinessProbe", StatusCommand.Options(isJSON: true)),
        ] {
            let value = try #require(container[key: probe])
            #expect(value["httpGet"] == nil, "\(probe)")
            let words = try #require(value.at(pointer: "/exec/command")).elements.compactMap(\.string)
            #expect(words.first == "/usr/bin/martlet", "\(probe)")
            let command = try Program.martlet.command(Array(words.dropFirst()), as: StatusCommand.self)
            #expect(command.options == options, "\(probe)")
            // A lane may take a second to report its status, and the command waits five seconds for a response.
            #expect(try #require(value["timeoutSeconds"]?.int) > 5, "\(probe)")
        }
        // Only a lasting stall may restart a worker.
        let liveness = try #require(container["livenessProbe"])
        let restartSeconds = try #require(liveness["periodSeconds"]?.int) * (liveness["failureThreshold"]?.int ?? 0)
        #expect(restartSeconds > StallDetector.iterationSecondsMax)
    }

    // Kubernetes and Docker kill a worker after the stop timeout. The broker then redelivers the worker's
    // unacknowledged requests.
    @Test func stopTimeoutsExceedTheDrainDeadline() throws {
        for path in Self.configurations {
            let needed = try Self.configuration(path).limits.drainDeadlineSeconds + RolloutLimits.closeGraceSeconds
            let deployment = try Self.object("Deployment", in: "base/deployment.yaml")
            let pod = deployment.root.at(pointer: "/spec/template/spec/terminationGracePeriodSeconds")?.int
            #expect(try #require(pod) > needed, "\(path)")
            let compose = try YAMLDocument(Self.text("deploy/container/compose.yaml")).root
            let text = try #require(compose.at(pointer: "/services/worker/stop_grace_period")?.string)
            #expect(try #require(text.last == "s" ? Int(text.dropLast()) : nil) > needed, "\(path)")
        }
    }

    // MARK: Scaling

    // If only ready messages counted, the autoscaler would stop busy workers.
    @Test func theAutoscalerCountsUnacknowledgedMessages() throws {
        let spec = try #require(try Self.object("ScaledObject", in: "production/autoscaler.yaml").root["spec"])
        let triggers = try #require(spec["triggers"]).elements.map { $0 }
        let backlog = try #require(triggers.first { $0["type"]?.string == "rabbitmq" }?["metadata"])
        #expect(backlog["protocol"]?.string == "http")
        #expect(backlog["mode"]?.string == "QueueLength")
        #expect(backlog["excludeUnacknowledged"]?.string == "false")

        let configuration = try Self.configuration("deploy/kubernetes/production/martlet.yaml")
        #expect(configuration.broker.names.requestQueues == [try #require(backlog["queueName"]?.string)])
        #expect(backlog["vhostName"]?.string == configuration.broker.url.virtualHost)
        let lanes = try #require(configuration.lanes)
        #expect(try Self.container().value.at(pointer: "/resources/limits/cpu")?.string == "\(lanes)")
        // During a reload, the worker has twice as many lanes.
        let memory = try #require(try Self.container().value.at(pointer: "/resources/limits/memory")?.string)
        let bytes = try #require(memory.hasSuffix("Mi") ? Int(memory.dropLast(2)) : nil) << 20
        #expect(bytes > 2 * lanes * configuration.limits.bodiesInFlightBytesMax + (128 << 20))
        // If the value were lower, the unacknowledged requests of each added worker would require yet another worker.
        let held = lanes * configuration.requestQueues.reduce(0) { $0 + $1.prefetch }
        #expect(try #require(backlog["value"]?.string.flatMap { Int($0) }) > held)

        // The value is the 95th percentile over all workers. An average over workers would be lower.
        let age = try #require(triggers.first { $0["type"]?.string == "prometheus" })
        #expect(age["metricType"]?.string == "Value")
        #expect(age["metadata"]?["ignoreNullValues"]?.string == "false")
        let query = try #require(age["metadata"]?["query"]?.string)
        let page = try Self.text("Sources/Documentation/Operators/Metrics.md")
        for name in query.matches(of: /martlet_[a-z_]+/).map({ String($0.output) }) {
            #expect(page.contains("| `\(name.replacing("_bucket", with: ""))` |"), "\(name)")
        }
        // Only a worker reports the age of requests.
        #expect(try #require(spec["minReplicaCount"]?.int) >= 1)
        // Some versions of KEDA refuse a fallback together with a trigger that is not an average.
        #expect(spec["fallback"] == nil)
        let behavior = try #require(spec.at(pointer: "/advanced/horizontalPodAutoscalerConfig/behavior"))
        #expect(try #require(behavior["scaleDown"]?["stabilizationWindowSeconds"]?.int) >= 120)
    }

    // MARK: The broker

    @Test func theTopologyIsAsPrinted() throws {
        let configuration = try Self.configuration("deploy/kubernetes/production/martlet.yaml")
        let topology = configuration.topology
        let cluster = try Self.object("RabbitmqCluster", in: "production/rabbitmq.yaml").root
        let name = try #require(cluster.at(pointer: "/metadata/name")?.string)
        let image = try #require(cluster.at(pointer: "/spec/image")?.string?.firstMatch(of: /:(\d+\.\d+)-/)).output.1
        let version: BrokerVersion = try #require(BrokerVersion(String(image)))
        let printed = KubernetesObjects.text(
            topology, virtualHost: configuration.broker.url.virtualHost,
            user: configuration.broker.url.credentials.user, cluster: name,
            version: version)
        let text = try Self.text("\(Self.kubernetes)/production/topology.yaml")
        let head = try #require(text.firstRange(of: "---\n"))
        #expect(text[head.upperBound...] == printed)
        #expect(text[..<head.lowerBound].contains("--broker \(image)\n"))
    }

    // The autoscaler reads the lengths of queues through the management API. The API requires no permission for queues.
    @Test func theAutoscalerHasNoPermissions() throws {
        let permissions = try Self.objects("production/autoscaler-user.yaml").map(\.root)
            .filter { $0["kind"]?.string == "Permission" }
        #expect(permissions.count == 1)
        for member in ["configure", "write", "read"] {
            #expect(permissions.first?["spec"]?["permissions"]?[key: member]?.string == "^$")
        }
    }

    /// The broker and the worker read the same secret.
    @Test func theWorkersUserUsesTheMountedSecret() throws {
        let user = try Self.object("User", in: "production/worker-user.yaml").root
        let deployment = try Self.object("Deployment", in: "base/deployment.yaml").root
        let volumes = try #require(deployment.at(pointer: "/spec/template/spec/volumes"))
        let secret = volumes.elements.first { $0["name"]?.string == "rabbitmq" }?["secret"]?["secretName"]?.string
        #expect(secret != nil)
        #expect(user.at(pointer: "/spec/importCredentialsSecret/name")?.string == secret)
        let name = try #require(user.at(pointer: "/metadata/name")?.string)
        let printed = try Self.text("\(Self.kubernetes)/production/topology.yaml")
        #expect(printed.contains("kind: User\nmetadata:\n  name: \(name)\n"))
    }

    // MARK: Compose and monitoring

    @Test func composeMountsExistingFiles() throws {
        let text = try Self.text("deploy/container/compose.yaml")
        let files = text.matches(of: /- (\.[^:\n]+):/).map { String($0.output.1) }
        #expect(files.count == 8)
        for file in files { #expect(try !Files.bytes(of: Products.file("deploy/container/\(file)")).isEmpty) }
        // No port is reachable from another machine.
        let services = try #require(try YAMLDocument(text).root["services"])
        for (name, service) in services.members {
            for port in service["ports"].map({ Array($0.elements) }) ?? [] {
                #expect(port.string?.hasPrefix("127.0.0.1:") == true, "\(name.string ?? "")")
            }
            let isOurs = service["build"] != nil
            #expect(!isOurs || service["read_only"]?.bool == true && service["cap_drop"]?.count == 1)
        }
        #expect(services.at(pointer: "/worker/deploy/replicas")?.int == 2)
    }

    // Alerts and the dashboard select metrics by job name.
    @Test func scrapeJobsHaveTheSameNames() throws {
        func jobs(_ path: String) throws -> [String] {
            try #require(try YAMLDocument(Self.text(path)).root["scrape_configs"]).elements
                .compactMap { $0["job_name"]?.string }
        }
        #expect(try jobs("deploy/container/compose/prometheus.yaml") == jobs("deploy/monitoring/prometheus.yaml"))
        #expect(try Self.text("deploy/container/compose/prometheus.yaml").contains("  - alerts.yaml\n"))
    }

    @Test func alertsAreAlsoAPrometheusRule() async throws {
        let result = try await ChildProcess.run([Products.file("deploy/monitoring/prometheus-rule")])
        #expect(result.exit.status == .exited(0), "\(result.errors)")
        let root = try YAMLDocument(result.output.joined(separator: "\n")).root
        #expect(root["kind"]?.string == "PrometheusRule")
        let groups = try #require(root.at(pointer: "/spec/groups"))
        let count = groups.elements.reduce(0) { $0 + ($1["rules"]?.count ?? 0) }
        #expect(count == (try Self.text("deploy/monitoring/alerts.yaml")).matches(of: /\n +- alert:/).count)
    }

    // MARK: The image

    @Test func theImageHasTheLibrariesThatAWorkerLoads() async throws {
        let martlet = try Products.executable("martlet")
        let linked = try await ChildProcess.run(["readelf", "-d", martlet]).output
            .compactMap { $0.firstMatch(of: /\(NEEDED\).*\[(.*)\]/).map { String($0.output.1) } }
        let onDemand = try await ChildProcess.run(["readelf", "-p", ".note.dlopen", martlet]).output
            .compactMap { $0.firstMatch(of: /"(lib[^"]*\.so[^"]*)"/).map { String($0.output.1) } }
        #expect(onDemand.sorted() == ["libcurl.so.4", "libpq.so.5", "libsqlite3.so.0"])
        let paths =
            try await ChildProcess.run(["ldd", martlet]).output + ChildProcess.run(["/sbin/ldconfig", "-p"]).output
        var packages: Set = ["ca-certificates"]
        // `deploy/build` links the runtimes of Swift and C++ statically.
        for name in linked + onDemand where !name.hasPrefix("libgcc_s.") && !name.hasPrefix("libstdc++.") {
            guard let line = paths.first(where: { $0.contains("\t\(name) ") }),
                let path = line.firstMatch(of: /=> (\/[^ ]*)/).map({ String($0.output.1) })
            else { continue }
            // dpkg may list a file under /lib that is under /usr/lib. Files of the toolchain belong to no package.
            for path in [path, "/usr\(path)"] {
                let owner = try await ChildProcess.run(["dpkg-query", "-S", path])
                if let package = owner.output.first?.split(separator: ":").first { packages.insert(String(package)) }
            }
        }
        let text = try Self.text("deploy/container/Dockerfile").replacing("\\\n", with: " ")
        let installed = try #require(text.firstMatch(of: /--no-install-recommends ([^&]*)&&/)).output.1
        #expect(Set(installed.split(separator: " ").map(String.init)) == packages)
    }

    // A worker refuses a key file that users other than its owner and group can read. Kubernetes' default mode is 0644.
    @Test func theSecretOfRegistrationsIsOptionalAndProtected() throws {
        let deployment = try Self.object("Deployment", in: "base/deployment.yaml").root
        let volumes = try #require(deployment.at(pointer: "/spec/template/spec/volumes")).elements
        let secret = try #require(volumes.first { $0["name"]?.string == "registrations" }?["secret"])
        #expect(secret["optional"]?.bool == true && secret["defaultMode"]?.int == 0o440)
        let mounts = try #require(try Self.container().value["volumeMounts"]).elements
        #expect(mounts.contains { $0["name"]?.string == "registrations" && $0["readOnly"]?.bool == true })
    }

    // A worker without device registrations needs neither library, so the package must not depend on them.
    @Test func thePackageNamesTheLibrariesOfStores() throws {
        let text = try Self.text("deploy/package")
        #expect(text.contains("Recommends: libsqlite3-0 (>= 3.37)") && text.contains("Suggests: libpq5 (>= 14)"))
        let dependencies = try #require(text.firstMatch(of: /build martlet "\$version" "([^"]*)"/)).output.1
        #expect(!dependencies.contains("libpq") && !dependencies.contains("libsqlite3"))
    }

    @Test func theImageStartsWithTheManifestsSettings() throws {
        let file = try Dockerfile()
        #expect(file.values("LABEL", of: "run").joined().contains("version=\"\(MartletVersion.current)\""))
        let uid = "10001"
        for stage in ["martlet", "apns-simulator"] {
            // The entry point is in brackets, so that no shell intercepts signals.
            #expect(file.values("ENTRYPOINT", of: stage) == ["[\"/usr/bin/\(stage)\"]"])
            #expect(file.values("USER", of: stage) == ["\(uid):\(uid)"])
        }
        for pod in [
            try Self.object("Deployment", in: "base/deployment.yaml"),
            try Self.object("Job", in: "topology/job.yaml"),
            try Self.object("StatefulSet", in: "console/stateful-set.yaml"),
        ] {
            let context = try #require(pod.root.at(pointer: "/spec/template/spec/securityContext"))
            for member in ["runAsUser", "runAsGroup", "fsGroup"] {
                #expect(context[key: member]?.int == Int(uid), "\(member)")
            }
        }
        let run = try file.command("martlet")
        let worker = try Program.martlet.command(run, as: WorkerCommand.self)
        #expect(worker.configPath == "/etc/martlet/martlet.yaml")
        let health = file.values("HEALTHCHECK", of: "martlet").first?.firstMatch(of: /CMD (\[.*\])/)
        let words = try JSONDocument(String(try #require(health).output.1)).root.elements.compactMap(\.string)
        #expect(words.first == "/usr/bin/martlet")
        let status = try Program.martlet.command(Array(words.dropFirst()), as: StatusCommand.self)
        #expect(status.options == StatusCommand.Options(isJSON: true))
        // The folder of the worker's socket is in a volume of the container.
        let folder = try #require(file.values("ENV", of: "martlet").first?.split(separator: "=").last)
        #expect(ControlSocket.folder(of: 1) { $0 == "RUNTIME_DIRECTORY" ? String(folder) : nil } == folder)
        let mounts = try Self.container().mounts
        #expect(mounts.contains { folder.hasPrefix("\($0)/") })
    }

    @Test func copiedPathsAreInTheBuildContext() throws {
        let sent = try Files.lines(of: Products.file("deploy/container/Dockerfile.dockerignore"))
            .filter { $0.hasPrefix("!") }.map { String($0.dropFirst()) }
        let copied = try Dockerfile().values("COPY", of: "build").flatMap { $0.split(separator: " ").dropLast() }
        #expect(copied.count > 5)
        #expect(Set(copied.map(String.init)) == Set(sent))
        for path in sent { #expect(access(Products.file(path), F_OK) == 0, "\(path)") }
    }

    // MARK: Reading

    private static func configuration(_ path: String) throws -> WorkerConfiguration {
        let key = try #require(KnownProviderKey.privateKey).pkcs8PEM()
        let authority = try CertificateAuthority.make(name: "test").certificatePEM
        let resolver = ReferenceResolver(
            environment: { _ in nil },
            readFile: { name throws(ReferenceResolver.ReadFailure) in
                if name.hasSuffix(".p8") { return Array(key.utf8) }
                if name.hasSuffix("/ca.pem") { return Array(authority.utf8) }
                if name.hasSuffix("/username") { return Array("martlet\n".utf8) }
                if name.hasSuffix("/password") { return Array("secret\n".utf8) }
                throw ReferenceResolver.ReadFailure(reason: "no such file")
            })
        return try ConfigurationFile(path, resolver: resolver).worker(text: Array(text(path).utf8))
    }

    private static func text(_ path: String) throws -> String {
        String(decoding: try FileReader.bytes(of: Products.file(path), bytesMax: 1 << 20), as: UTF8.self)
    }

    private static func objects(_ path: String) throws -> [YAMLDocument] {
        try text("\(kubernetes)/\(path)").split(separator: "\n---\n").map { try YAMLDocument(Array($0.utf8)) }
    }

    private static func object(_ kind: String, in path: String) throws -> YAMLDocument {
        try #require(try objects(path).first { $0.root["kind"]?.string == kind })
    }

    /// Returns the worker's container and its mount paths.
    private static func container() throws -> (value: JSONValue, mounts: Set<String>) {
        let deployment = try object("Deployment", in: "base/deployment.yaml")
        let value = try #require(deployment.root.at(pointer: "/spec/template/spec/containers/0"))
        let mounts = try #require(value["volumeMounts"]).elements.compactMap { $0["mountPath"]?.string }
        return (value, Set(mounts))
    }
}

/// The instructions of `deploy/container/Dockerfile` by stage.
private struct Dockerfile {
    private var stages: [String: [(name: String, value: String)]] = [:]

    init() throws {
        let lines = try Files.lines(of: Products.file("deploy/container/Dockerfile")).filter { !$0.hasPrefix("#") }
        var stage = ""
        for line in lines.joined(separator: "\n").replacing("\\\n", with: "").split(separator: "\n") {
            guard let space = line.firstIndex(of: " ") else { continue }
            let name = String(line[..<space])
            let value = line[line.index(after: space)...].split(separator: " ").joined(separator: " ")
            if name == "FROM" { stage = value.split(separator: " ").last.map(String.init) ?? "" }
            stages[stage, default: []].append((name, value))
        }
    }

    func values(_ name: String, of stage: String) -> [String] {
        stages[stage, default: []].filter { $0.name == name }.map(\.value)
    }

    /// Returns the words of the stage's `CMD`.
    func command(_ stage: String) throws -> [String] {
        let text = try #require(values("CMD", of: stage).first)
        return try JSONDocument(text).root.elements.compactMap(\.string)
    }
}
