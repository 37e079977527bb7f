import JSON
import TestKit
import Testing
import YAML

@testable import BrokerTopology

/// The formats that declare the topology without Martlet.
@Suite struct TopologyFormatTests {
    private let topology = Topology(
        names: TopologyNames(requestQueues: ["push.requests", "it's_a Queue"]), waits: [WaitDelay(seconds: 30)])

    @Test func definitionsContainTheWholeTopology() throws {
        let text = DefinitionsFile.text(
            topology, virtualHost: "a\"b", version: BrokerVersion(4, 0))
        let root = try JSONDocument(text).root
        #expect(root["exchanges"]?.elements.compactMap { $0["name"]?.string } == topology.exchanges.map(\.name))
        #expect(root["queues"]?.elements.compactMap { $0["name"]?.string } == topology.queues.map(\.name))
        #expect(root["bindings"]?.count == topology.bindings.count)
        #expect(root["policies"]?.count == 1)
        for list in ["exchanges", "queues", "bindings", "policies"] {
            for thing in root[key: list]?.elements.map({ $0 }) ?? [] {
                #expect(thing["vhost"]?.string == "a\"b")
            }
        }
        let waiting = try #require(root["queues"]?.elements.first { $0["name"]?.string == "push.wait.30s.1" })
        #expect(waiting["arguments"]?["x-message-ttl"]?.int == 30_000)
        let policy = try #require(root["policies"]?.elements.first { _ in true })
        #expect(policy["definition"]?["delivery-limit"]?.int == -1 && policy["apply-to"]?.string == "queues")
        #expect(text.split(separator: "\n").allSatisfy { $0.count < 400 })
    }

    @Test func everyFormatDeclaresRegistrations() throws {
        let topology = Topology(waits: [], hasRegistrations: true)
        let root = try JSONDocument(DefinitionsFile.text(topology, virtualHost: "/", version: nil)).root
        for list in ["exchanges", "queues"] {
            #expect(root[key: list]?.elements.contains { $0["name"]?.string == "push.registrations" } == true)
        }
        let binding = root["bindings"]?.elements.first { $0["source"]?.string == "push.registrations" }
        #expect(binding?["destination"]?.string == "push.registrations" && binding?["routing_key"]?.string == "#")
        let objects = KubernetesObjects.text(
            topology, virtualHost: "/", user: "me", cluster: "rabbit", version: nil)
        for kind in ["Exchange", "Queue"] {
            #expect(objects.contains("kind: \(kind)\nmetadata:\n  name: push-registrations\n"))
        }
        for kind in ["User", "Permission"] {
            #expect(objects.contains("kind: \(kind)\nmetadata:\n  name: martlet-registrar\n"))
        }
    }

    @Test func everyFormatDeclaresFleetControl() throws {
        let topology = Topology(waits: [], hasFleetControl: true)
        let text = DefinitionsFile.text(topology, virtualHost: "/", version: BrokerVersion(4, 0))
        let added = Self.added(
            to: DefinitionsFile.text(Topology(waits: []), virtualHost: "/", version: BrokerVersion(4, 0)), in: text)
        #expect(
            added == [
                #"{"vhost":"/","name":"push.control","type":"topic","durable":true,"auto_delete":false,"#
                    + #""internal":false,"arguments":{}}"#,
                #"{"vhost":"/","name":"push.fleet","type":"topic","durable":true,"auto_delete":false,"#
                    + #""internal":false,"arguments":{}}"#,
                #"{"vhost":"/","name":"push.pauses","durable":true,"auto_delete":false,"arguments":{"#
                    + #""x-queue-type":"stream","x-max-length-bytes":20000000,"#
                    + #""x-stream-max-segment-size-bytes":1000000}}"#,
                #"{"vhost":"/","name":"push.commands","durable":true,"auto_delete":false,"arguments":{"#
                    + #""x-queue-type":"stream","x-max-length-bytes":256000000,"#
                    + #""x-stream-max-segment-size-bytes":16000000,"x-max-age":"90D"}}"#,
                #"{"vhost":"/","source":"push.control","destination":"push.pauses","destination_type":"queue","#
                    + #""routing_key":"pauses","arguments":{}}"#,
                #"{"vhost":"/","source":"push.control","destination":"push.commands","destination_type":"queue","#
                    + #""routing_key":"command.#","arguments":{}}"#,
                #"{"vhost":"/","source":"push.control","destination":"push.commands","destination_type":"queue","#
                    + #""routing_key":"audit.#","arguments":{}}"#,
            ])
        let script = RabbitmqctlScript.text(topology, virtualHost: "/", user: "me", version: nil)
        for line in added { #expect(script.contains(line)) }
        let objects = KubernetesObjects.text(topology, virtualHost: "/", user: "me", cluster: "rabbit", version: nil)
        for (kind, name, spec) in [
            ("Exchange", "push-control", #"{"vhost":"/","name":"push.control","type":"topic","#),
            ("Exchange", "push-fleet", #"{"vhost":"/","name":"push.fleet","type":"topic","#),
            (
                "Queue", "push-pauses",
                #"{"vhost":"/","name":"push.pauses","type":"stream","durable":true,"arguments":{"#
                    + #""x-max-length-bytes":20000000,"x-stream-max-segment-size-bytes":1000000},"#
            ),
            ("Queue", "push-commands", #"{"vhost":"/","name":"push.commands","type":"stream","durable":true,"#),
            (
                "Binding", "push-commands-to-push-control-2",
                #"{"vhost":"/","source":"push.control","destination":"push.commands","#
            ),
            ("User", "martlet-viewer", #"{"rabbitmqClusterReference":"#),
            (
                "TopicPermission", "martlet-viewer-to-push-control",
                #"{"vhost":"/","userReference":{"name":"martlet-viewer"},"permissions":{"exchange":"push.control","#
                    + #""write":"^audit\\.","read":"^$"},"#
            ),
        ] {
            #expect(
                objects.contains("kind: \(kind)\nmetadata:\n  name: \(name)\nspec: \(spec)"), "\(kind) \(name)")
        }
    }

    @Test func everyFormatDeclaresTheJournal() throws {
        let (fleet, journal) = (Topology(hasFleetControl: true), Topology(hasFleetControl: true, hasJournal: true))
        let version = BrokerVersion(4, 0)
        let added = Self.added(
            to: DefinitionsFile.text(fleet, virtualHost: "/", version: version),
            in: DefinitionsFile.text(journal, virtualHost: "/", version: version))
        #expect(
            added == [
                #"{"vhost":"/","name":"push.journal","durable":true,"auto_delete":false,"arguments":{"#
                    + #""x-queue-type":"stream","x-max-length-bytes":10000000000,"#
                    + #""x-stream-max-segment-size-bytes":100000000,"x-max-age":"72h"}}"#,
                #"{"vhost":"/","source":"push.fleet","destination":"push.journal","destination_type":"queue","#
                    + #""routing_key":"journal.#","arguments":{}}"#,
            ])
        let script = RabbitmqctlScript.text(journal, virtualHost: "/", user: "me", version: nil)
        for line in added { #expect(script.contains(line)) }
        let objects = KubernetesObjects.text(journal, virtualHost: "/", user: "me", cluster: "rabbit", version: nil)
        for (kind, name) in [("Queue", "push-journal"), ("Binding", "push-journal-to-push-fleet")] {
            #expect(objects.contains("kind: \(kind)\nmetadata:\n  name: \(name)\n"), "\(kind) \(name)")
        }
    }

    /// Returns the lines of a text that another text lacks, without indentation and commas.
    private static func added(to former: String, in text: String) -> [String] {
        func lines(_ text: String) -> [String] {
            text.split(separator: "\n").map { line in
                let line = line.drop { $0 == " " }
                return String(line.hasSuffix(",") ? line.dropLast() : line)
            }
        }
        let formerLines = Set(lines(former))
        return lines(text).filter { !formerLines.contains($0) }
    }

    @Test func shardsAreBoundToAnExchange() throws {
        let topology = Topology(
            names: TopologyNames(shards: ["push.requests": 64]), waits: [WaitDelay(seconds: 30)])
        let version = BrokerVersion(4, 0)
        let text = DefinitionsFile.text(topology, virtualHost: "/", version: version)
        #expect(text.split(separator: "\n").allSatisfy { $0.count < 400 })
        let root = try JSONDocument(text).root
        let bindings = root["bindings"].map { Array($0.elements) } ?? []
        let toExchange = bindings.filter { $0["destination_type"]?.string == "exchange" }
        #expect(toExchange.map { $0["destination"]?.string } == ["push.requests.shards", "push.dlx.sort"])
        #expect(toExchange.map { $0["source"]?.string } == ["push.requests", "push.dlx"])
        let hashing = root["exchanges"]?.elements.first { $0["type"]?.string == "x-consistent-hash" }
        #expect(hashing?["arguments"]?["hash-property"]?.string == "message_id")
        #expect(bindings.count { $0["source"]?.string == "push.requests.shards" } == 64)

        let objects = KubernetesObjects.text(
            topology, virtualHost: "/", user: "me", cluster: "rabbit", version: version)
        #expect(objects.contains(#""destination":"push.requests.shards","destinationType":"exchange""#))
        let permissions = WorkerPermissions(topology)
        #expect(permissions.read == #"^(push\.requests(\.[0-9]+)?|push\.quarantine|push\.expired)$"#)
        #expect(permissions.readQueues.contains("push.requests.63"))
    }

    // With `x-delivery-limit: -1`, versions before 4.0 drop a message when it is first requeued.
    @Test(arguments: [nil, BrokerVersion(3, 10), BrokerVersion(3, 13), BrokerVersion(4, 0), BrokerVersion(4, 3)])
    func theDeliveryLimitIsTurnedOffForVersionsThatHaveOne(version: BrokerVersion?) throws {
        let isTurnedOff = version.map { $0 >= BrokerVersion(4, 0) } ?? false
        for text in [
            DefinitionsFile.text(topology, virtualHost: "/", version: version),
            RabbitmqctlScript.text(topology, virtualHost: "/", user: "martlet", version: version),
        ] {
            #expect(text.contains("x-delivery-limit") == isTurnedOff)
            #expect(text.contains("delivery-limit") == isTurnedOff)
        }
        let objects = KubernetesObjects.text(
            topology, virtualHost: "/", user: "martlet", cluster: "rabbit", version: version)
        #expect(!objects.contains("x-delivery-limit"))
        #expect(objects.contains(#""delivery-limit":-1"#) == isTurnedOff)
        let definitions = try JSONDocument(DefinitionsFile.text(topology, virtualHost: "/", version: version)).root
        let unlimited = definitions["queues"]?.elements.filter { $0["arguments"]?["x-delivery-limit"]?.int == -1 }
            .compactMap { $0["name"]?.string }
        #expect(
            unlimited
                == (isTurnedOff
                    ? ["push.requests", "it's_a Queue", "push.quarantine", "push.expired", "push.dead"] : []))
    }

    @Test func aShellRunsTheScript() async throws {
        let script = RabbitmqctlScript.text(
            topology, virtualHost: "it's", user: "martlet", version: BrokerVersion(4, 3))
        let directory = try TemporaryDirectory()
        // The fake `rabbitmqctl` prints its arguments, and the definitions with the file's mode. Like rabbitmqctl of
        // RabbitMQ 4.0.5, it does not read standard input.
        try await directory.writeProgram(
            "rabbitmqctl",
            """
            #!/bin/sh
            for word; do echo "<$word>"; done
            if [ "$1" = import_definitions ]; then cat "$4" && stat --format %A "$4"; fi

            """)
        let file = try directory.write("script", script)
        let result = try await ChildProcess.run([
            "/bin/sh", "-c",
            "cd \(directory.path) && mkdir tmp && TMPDIR=$PWD/tmp PATH=.:$PATH /bin/sh \(file)",
        ])
        #expect(result.exit.status == .exited(0), "\(result.errors)")
        try #require(result.output.count > 5)
        #expect(result.output.prefix(3) == ["<import_definitions>", "<--format>", "<json>"])
        #expect(result.output[3].hasPrefix("<\(directory.file("tmp"))/"))
        #expect(result.output[4] == "{")
        #expect(result.output.contains("-rw-r--r--"), "the user rabbitmq cannot read the file")
        #expect(try Files.names(in: directory.file("tmp")) == [])
        let policy = try #require(result.output.firstIndex(of: "<set_policy>"))
        #expect(
            result.output[policy...] == [
                "<set_policy>", "<-p>", "<it's>", "<--apply-to>", "<queues>", "<--priority>", "<1>",
                "<push-deliveries>", #"<^(push\.requests|it's_a Queue|push\.quarantine|push\.expired|push\.dead)$>"#,
                #"<{"delivery-limit":-1}>"#,
            ])
    }

    @Test func kubernetesObjectsHaveValidNames() throws {
        let text = KubernetesObjects.text(
            topology, virtualHost: "/", user: "martlet", cluster: "rabbit",
            version: BrokerVersion(4, 0))
        var names: Set<String> = []
        var kinds: [String: Int] = [:]
        for object in text.split(separator: "---\n") {
            let root = try YAMLDocument(Array(object.utf8)).root
            let kind = try #require(root["kind"]?.string)
            kinds[kind, default: 0] += 1
            #expect(root["apiVersion"]?.string == "rabbitmq.com/v1beta1")
            #expect(root["spec"]?["rabbitmqClusterReference"]?["name"]?.string == "rabbit")
            let name = try #require(root["metadata"]?["name"]?.string)
            #expect(name.wholeMatch(of: /[a-z0-9]([-a-z0-9]*[a-z0-9])?/) != nil, "\(name)")
            #expect(names.insert("\(kind) \(name)").inserted, "\(name)")
            if kind == "Queue" {
                #expect(root["spec"]?["type"]?.string == "quorum")
                #expect(root["spec"]?["arguments"]?["x-queue-type"] == nil)
            }
        }
        #expect(
            kinds == [
                "Exchange": topology.exchanges.count, "Queue": topology.queues.count,
                "Binding": topology.bindings.count, "Policy": 1, "User": 5, "Permission": 5,
            ])
    }

    // The messaging topology operator generates names and passwords.
    @Test func kubernetesObjectsContainThePermissionsOfEachUser() throws {
        let text = KubernetesObjects.text(
            topology, virtualHost: "a\"b", user: "My User", cluster: "rabbit", version: nil)
        let objects = try text.split(separator: "---\n").map { try YAMLDocument(Array($0.utf8)) }.map(\.root)
        let users = objects.filter { $0["kind"]?.string == "User" }
        let names = ["my-user", "martlet-producer", "martlet-results", "martlet-operator", "martlet-topology"]
        #expect(users.map { $0["metadata"]?["name"]?.string } == names)
        for user in users {
            #expect(user["spec"].map { $0.members.map(\.key.string) } == ["rabbitmqClusterReference"])
        }
        let permissions = objects.filter { $0["kind"]?.string == "Permission" }.compactMap { $0["spec"] }
        let roles = BrokerPermissions.all(topology, worker: "My User")
        #expect(permissions.count == roles.count)
        for (index, (permission, role)) in zip(permissions, roles).enumerated() {
            #expect(permission["vhost"]?.string == "a\"b")
            #expect(permission["userReference"]?["name"]?.string == names[index])
            let given = permission["permissions"]
            #expect(given?["configure"]?.string == role.configure, "\(role.user)")
            #expect(given?["write"]?.string == role.write, "\(role.user)")
            #expect(given?["read"]?.string == role.read, "\(role.user)")
        }
    }
}
