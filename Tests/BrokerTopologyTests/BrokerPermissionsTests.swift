import Testing

@testable import BrokerTopology

@Suite struct BrokerPermissionsTests {
    @Test func theScriptHasEveryUser() {
        let topology = Topology(names: TopologyNames(prefix: "a.b"), hasChannelCommands: false)
        let script = RabbitmqctlScript.text(topology, virtualHost: "it's", user: "me", version: nil)
        let lines = script.split(separator: "\n").filter { $0.contains("set_permissions") }
        let begin = #"# rabbitmqctl set_permissions -p 'it'\''s' "#
        #expect(lines.count == 5 && lines.allSatisfy { $0.hasPrefix(begin) })
        let permissions: [String] = [
            #"'me' '^$' '^a\.b\.(results|dead|quarantine|wait\..*)$' '^(a\.b\.requests|a\.b\.quarantine|a\.b\.expired)$'"#,
            #"'martlet-producer' '^$' '^(a\.b\.requests)$' '^$'"#,
            #"'martlet-results' '^$' '^$' '^(a\.b\.results)$'"#,
            Self.operatorsPermissions, Self.declarersPermissions,
        ]
        for (line, expected) in zip(lines, permissions) { #expect(line.dropFirst(begin.count) == expected) }
    }

    // A client that may register devices can redirect a user's notifications to another device.
    @Test func onlyRegistrarsAndWorkersMayPublishRegistrations() throws {
        let topology = Topology(names: TopologyNames(prefix: "a.b"), hasRegistrations: true)
        let all = BrokerPermissions.all(topology, worker: "me")
        #expect(
            try users(of: all, thatMayWriteTo: "a.b.registrations")
                == ["me", "martlet-topology", "martlet-registrar"])
        #expect(
            try users(of: all, thatMayWriteTo: "a.b.requests")
                == ["me", "martlet-producer", "martlet-operator", "martlet-topology"])
        let registrar = try #require(all.last)
        #expect(registrar.write == #"^(a\.b\.registrations)$"#)
        #expect(registrar.configure == BrokerPermissions.nothing && registrar.read == BrokerPermissions.nothing)
        let script = RabbitmqctlScript.text(topology, virtualHost: "/", user: "me", version: nil)
        #expect(script.hasSuffix(#"'/' 'martlet-registrar' '^$' '^(a\.b\.registrations)$' '^$'"# + "\n"))
        #expect(
            script.contains(
                #"'me' '^$' '^a\.b\.(results|dead|quarantine|requests|registrations|wait\..*)$|^amq\.default$' "#
                    + #"'^(a\.b\.requests|a\.b\.quarantine|a\.b\.expired|a\.b\.registrations)$'"#))
    }

    @Test func fleetControlAddsRightsAndAViewer() throws {
        let topology = Topology(names: TopologyNames(prefix: "a.b"), hasFleetControl: true)
        let script = RabbitmqctlScript.text(topology, virtualHost: "/", user: "me", version: nil)
        let begin = "# rabbitmqctl set_permissions -p '/' "
        let lines = script.split(separator: "\n").filter { $0.hasPrefix(begin) }.map { $0.dropFirst(begin.count) }
        let worker: String =
            #"'me' '^$' '^a\.b\.(results|dead|quarantine|fleet|wait\..*)$' "#
            + #"'^(a\.b\.requests|a\.b\.quarantine|a\.b\.expired|a\.b\.pauses|a\.b\.commands)$'"#
        let operators: String =
            #"'martlet-operator' '^(a\.b\.watch\..*|a\.b\.lock\..*)$' "#
            + #"'^(a\.b\.watch\..*|a\.b\.lock\..*|a\.b\.requests|a\.b\.results|a\.b\.unrouted|a\.b\.control"#
            + #"|amq\.default)$' '^(a\.b\.watch\..*|a\.b\.lock\..*|a\.b\.dead|a\.b\.results|a\.b\.dlx\.rest|a\.b\.unrouted"#
            + #"|a\.b\.fleet|a\.b\.pauses|a\.b\.commands|a\.b\.wait\..*)$'"#
        let viewer: String =
            #"'martlet-viewer' '^(a\.b\.watch\..*)$' '^(a\.b\.watch\..*|a\.b\.control)$' "#
            + #"'^(a\.b\.watch\..*|a\.b\.fleet|a\.b\.pauses|a\.b\.commands)$'"#
        #expect(lines.count == 6)
        #expect(lines.first == Substring(worker))
        #expect(lines.contains(Substring(operators)) && lines.last == Substring(viewer), "\(lines)")
    }

    @Test func onlyOperatorsAndObserversReadTheJournal() throws {
        let (fleet, journal) = (Topology(hasFleetControl: true), Topology(hasFleetControl: true, hasJournal: true))
        let changed = zip(
            BrokerPermissions.all(fleet, worker: "me"), BrokerPermissions.all(journal, worker: "me")
        ).filter { $0 != $1 }
        #expect(changed.map(\.1.user) == ["martlet-operator", "martlet-viewer"])
        for (former, permissions) in changed {
            #expect(permissions.write == former.write && permissions.configure == former.configure)
            #expect(permissions.read == former.read.replacing(#"commands"#, with: #"commands|push\.journal"#))
        }
    }

    // Without its restriction, the right to publish records of the audit is a right to pause the fleet.
    @Test func aViewerIsRestrictedToTheAuditBeforeItMayPublish() throws {
        let topology = Topology(hasFleetControl: true)
        let lines = RabbitmqctlScript.text(topology, virtualHost: "it's", user: "me", version: nil)
            .split(separator: "\n").filter { $0.contains("'martlet-viewer'") }
        try #require(lines.count == 2)
        #expect(
            lines[0]
                == #"# rabbitmqctl set_topic_permissions -p 'it'\''s' 'martlet-viewer' 'push.control' '^audit\.' '^$'"#)
        #expect(lines[1].hasPrefix("# rabbitmqctl set_permissions "))
        #expect(
            BrokerPermissions.all(topology, worker: "me").filter { !$0.topics.isEmpty }.map(\.user)
                == ["martlet-viewer"])
    }

    private func users(of all: [BrokerPermissions], thatMayWriteTo exchange: String) throws -> [String] {
        try all.filter { try Regex($0.write).wholeMatch(in: exchange) != nil }.map(\.user)
    }

    @Test(arguments: [false, true], [false, true])
    func aWorkerMayPublishToItsExchangesOnly(hasRegistrations: Bool, hasFleetControl: Bool) throws {
        let topology = Topology(
            names: TopologyNames(prefix: "a.b"), hasRegistrations: hasRegistrations, hasFleetControl: hasFleetControl)
        let permissions = WorkerPermissions(topology)
        let pattern = try Regex(permissions.write)
        for exchange in topology.exchanges.map(\.name) {
            let mayPublish = try pattern.wholeMatch(in: exchange) != nil
            #expect(mayPublish == permissions.writtenExchanges.contains(exchange), "\(exchange)")
        }
    }

    private static let operatorsPermissions =
        #"'martlet-operator' '^(a\.b\.watch\..*)$' "#
        + #"'^(a\.b\.watch\..*|a\.b\.requests|a\.b\.results|a\.b\.unrouted|amq\.default)$' "#
        + #"'^(a\.b\.watch\..*|a\.b\.dead|a\.b\.results|a\.b\.dlx\.rest|a\.b\.unrouted|a\.b\.wait\..*)$'"#
    private static let declarersPermissions =
        #"'martlet-topology' '^(a\.b\..*|a\.b\.requests)$' '^(a\.b\..*|a\.b\.requests|amq\.default)$' "#
        + #"'^(a\.b\..*|a\.b\.requests)$'"#

    // A request queue may have any name. The names of its shards and of their exchange begin with the name of the
    // queue.
    @Test func theDeclarerMayDeclareEverything() throws {
        let names = TopologyNames(prefix: "a", requestQueues: ["jobs", "b.plain"], shards: ["jobs": 2])
        let topology = Topology(names: names)
        let permissions = try #require(
            BrokerPermissions.all(topology, worker: "me").first { $0.user == "martlet-topology" })
        for pattern in try [permissions.configure, permissions.write, permissions.read].map({ try Regex($0) }) {
            for name in topology.queues.map(\.name) + topology.exchanges.map(\.name) {
                #expect(try pattern.wholeMatch(in: name) != nil, "\(name)")
            }
            for name in ["jobs.x", "jobs2", "b.plain.0", "b.plain.shards"] {
                #expect(try pattern.wholeMatch(in: name) == nil, "\(name)")
            }
        }
    }
}
