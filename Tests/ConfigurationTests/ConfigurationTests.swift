import AMQP
import APNS
import APNSProtocol
import BrokerTopology
import Crypto
import Delivery
import EventLoop
import HTTPClient
import HTTPProxy
import JSONSchema
import Telemetry
import TestKit
import Testing

@testable import Actions
@testable import Configuration
@testable import MartletCLI

@Suite struct ConfigurationTests {
    private static let key1 = Credential.Name.key(id: "ABC123DEFG", team: "DEF123GHIJ")

    /// Returns the credentials of an app that uses one key for all pushes in these environments.
    private static func all(
        _ key: Credential.Name, _ environments: [APNSEnvironment]
    ) -> [APNSEnvironment: AppCredentials.Chosen] {
        let chosen = Dictionary(uniqueKeysWithValues: AppDirectory.Kind.all.map { ($0, key) })
        return Dictionary(uniqueKeysWithValues: environments.map { ($0, chosen) })
    }

    @Test func theShortestFileHasDefaultsForTheRest() throws {
        let configuration = try load(SampleConfiguration.shortest)
        #expect(configuration.broker.url.endpoints == [Endpoint(host: "rabbit", port: 5672)])
        #expect(configuration.broker.url.credentials.user == "guest")
        #expect(configuration.broker.url.credentials.password == "guest")
        #expect(configuration.broker.names.requestQueues == ["push.requests"])
        #expect(
            configuration.apps == [
                .init(
                    bundleID: "com.example.shop", credentials: Self.all(Self.key1, [.production, .sandbox]),
                    environment: .production)
            ])
        #expect(configuration.apns.production.endpoint == Endpoint(host: "api.push.apple.com", port: 443))
        #expect(configuration.limits == WorkerConfiguration.Limits())
        #expect(configuration.retry == RetrySchedule())
        #expect(configuration.results == ResultsRetention())
        #expect(configuration.broker.management == nil)
        #expect(configuration.apns.keys.map(\.file) == ["AuthKey.p8"])
        #expect(configuration.lanes == nil)
    }

    @Test func everyKeyIsRead() throws {
        let configuration = try load(
            """
            amqp:
              url: amqp://rabbit-1,rabbit-2:5673/push
              username: martlet
              password: ${PASSWORD}
              prefix: shop
              request_queues:
                - {name: shop.urgent, prefetch: 4}
                - {name: orders, routing_key: "order.#"}
              heartbeat_seconds: 7
              socket:
                resolve_timeout_seconds: 1
                connect_timeout_seconds: 2
                tls_timeout_seconds: 3
                user_timeout_seconds: 4
                keepalive_seconds: 5
                send_buffer_bytes: 8192
                receive_buffer_bytes: 16384
                source_address: 10.0.0.5
                dscp: 46
              management_url: https://rabbit-1:15671/base
            apns:
              keys:
                - {key_id: ABC123DEFG, team_id: DEF123GHIJ, private_key: "file:AuthKey.p8", environments: [production]}
                - {key_id: OTHER12345, team_id: DEF123GHIJ, key_file: AuthKey.p8}
              endpoints:
                sandbox: {host: 127.0.0.1, port: 2197}
              connections_max: 3
              socket: {connect_timeout_seconds: 6}
              request_timeout_seconds: 4
            apps:
              com.example.shop: {key: OTHER12345, environment: sandbox}
              com.example.mail: {key: ABC123DEFG, limits: {pushes_per_second: 20}}
            limits:
              each_app: {pushes_in_flight: 7, pushes_per_second: 8}
              in_flight_max: 5
              message_bytes_max: 2048
              bodies_in_flight_bytes_max: 2097152
              drain_deadline_seconds: 6
            retry:
              attempts_max: 7
              resend_unknown: false
              delays: [5s, 120s, 1h]
              age_max: 90m
              hold_max: 48h
            topology:
              results: {queue: false, age_max: 24h, length_max: 10}
            lanes: 9
            log: {level: debug}
            """)
        let broker = configuration.broker
        #expect(broker.url.endpoints.map(\.description) == ["rabbit-1:5672", "rabbit-2:5673"])
        #expect(broker.url.credentials.user == "martlet" && broker.url.credentials.password == "hunter2")
        #expect(broker.url.virtualHost == "push")
        #expect(broker.names.deadExchange == "shop.dead" && broker.names.requestQueues == ["shop.urgent", "orders"])
        #expect(
            configuration.requestQueues == [
                RequestQueue(name: "shop.urgent", prefetch: 4, routingKey: "urgent"),
                RequestQueue(name: "orders", prefetch: 5, routingKey: "order.#"),
            ])
        #expect(
            configuration.topology.bindings.prefix(2).map(\.routingKey) == ["urgent", "order.#"])
        #expect(broker.heartbeatSeconds == 7)
        var socket = ConnectOptions()
        socket.connectSecondsMax = 6
        #expect(configuration.apns.socket == socket)
        socket.resolveSecondsMax = 1
        socket.connectSecondsMax = 2
        socket.handshakeSecondsMax = 3
        socket.userTimeoutSeconds = 4
        socket.keepaliveSeconds = 5
        (socket.sendBufferBytes, socket.receiveBufferBytes) = (8192, 16_384)
        (socket.sourceAddress, socket.dscp) = (SourceAddress("10.0.0.5"), 46)
        #expect(broker.socket == socket)
        #expect(broker.management?.description == "https://rabbit-1:15671/base")
        #expect(broker.management?.credentials == .init(user: "martlet", password: "hunter2"))
        #expect(
            configuration.results == ResultsRetention(hasQueue: false, ageSecondsMax: 86_400, lengthMax: 10))
        #expect(configuration.apns.keys.map(\.file) == [nil, "AuthKey.p8"])
        #expect(configuration.apns.keys.map(\.keyID) == ["ABC123DEFG", "OTHER12345"])
        #expect(configuration.apns.sandbox.endpoint == Endpoint(host: "127.0.0.1", port: 2197))
        #expect(configuration.apns.connectionsMax == 3 && configuration.apns.requestTimeoutSeconds == 4)
        #expect(
            configuration.apps.map(\.credentials) == [
                Self.all(.key(id: "OTHER12345", team: "DEF123GHIJ"), [.production, .sandbox]),
                Self.all(Self.key1, [.production]),
            ])
        #expect(configuration.apps.map(\.environment) == [.sandbox, .production])
        #expect(
            configuration.limits
                == WorkerConfiguration.Limits(
                    inFlightMax: 5, messageBytesMax: 2048, bodiesInFlightBytesMax: 2_097_152, drainDeadlineSeconds: 6,
                    eachApp: PushLimits(inFlightMax: 7, perSecondMax: 8)))
        #expect(
            configuration.apps.map { configuration.limits(of: $0) } == [
                PushLimits(inFlightMax: 7, perSecondMax: 8), PushLimits(inFlightMax: 7, perSecondMax: 20),
            ])
        #expect(configuration.apns.keys.map(\.environments) == [[.production], [.production, .sandbox]])
        #expect(
            configuration.retry
                == RetrySchedule(
                    attemptsMax: 7, ageSecondsMax: 5400, holdSecondsMax: 172_800,
                    waits: [5, 120, 3600].map { WaitDelay(seconds: $0) }))
        #expect(!configuration.resendsUnknown)
        #expect(configuration.lanes == 9 && configuration.logLevel == .debug)
    }

    @Test(
        arguments: [
            ("", [:], nil, [:]),
            ("proxy: \"http://u:${PASSWORD}@proxy\"", ["HTTPS_PROXY": "http://other"], "http://proxy:80/", [:]),
            ("proxy: none", ["HTTPS_PROXY": "http://other"], nil, [:]),
            ("", ["HTTPS_PROXY": "https://proxy:3128"], "https://proxy:3128/", ["api.push.apple.com": false]),
            (
                "", ["https_proxy": "proxy:3128", "NO_PROXY": "", "no_proxy": "sandbox.push.apple.com"],
                "http://proxy:3128/",
                ["api.push.apple.com": false, "api.sandbox.push.apple.com": true]
            ),
            ("", ["HTTPS_PROXY": ""], nil, [:]),
        ] as [(String, [String: String], String?, [String: Bool])])
    func theProxyIsFromTheFileOrTheEnvironment(
        _ line: String, _ variables: [String: String], _ url: String?, _ exempt: [String: Bool]
    ) throws {
        let text = SampleConfiguration.shortest.replacing("apns:\n", with: "apns:\n  \(line)\n")
        let proxy = try load(text, variables).apns.proxy
        #expect(proxy?.url.description == url)
        #expect(proxy?.url.credentials?.password == (line.contains("PASSWORD") ? "hunter2" : nil))
        for (host, isExempt) in exempt {
            #expect(proxy?.exemptions?.contains(Endpoint(host: host, port: 443)) == isExempt)
        }
        #expect(proxy == nil || (proxy?.exemptions == nil) == !line.isEmpty)
    }

    @Test func anInvalidProxyIsReportedWithoutItsPassword() {
        let configured = mistakes(
            SampleConfiguration.shortest.replacing("apns:\n", with: "apns:\n  proxy: socks5://u:hunter2@p\n"))
        #expect(configured.count == 1 && configured[0].contains("invalid HTTP URL"))
        #expect(!configured[0].contains("hunter2"))
        let inherited = mistakes(SampleConfiguration.shortest, ["HTTPS_PROXY": "socks5://u:hunter2@p"])
        #expect(
            inherited.count == 1 && inherited[0].contains("HTTPS_PROXY of the environment: invalid HTTP URL"))
    }

    @Test(arguments: [
        ("amqp://rabbit", "guest:guest"), ("amqp://rabbit/a%40b", "martlet:hunter2"),
        ("amqp://other@rabbit", "other:hunter2"), ("amqp://other:word@rabbit", "other:word"),
    ])
    func userAndPasswordApplyToAURLWithoutThem(url: String, login: String) throws {
        let keys = url == "amqp://rabbit" ? "" : "\n  username: martlet\n  password: ${PASSWORD}"
        let text = SampleConfiguration.shortest.replacing("  url: amqp://rabbit", with: "  url: \(url)" + keys)
        let credentials = try load(text).broker.url.credentials
        #expect("\(credentials.user):\(credentials.password)" == login)
    }

    @Test(arguments: [
        ("amqp://rabbit", 30), ("amqp://rabbit?heartbeat=7", 7),
        ("amqp://rabbit?heartbeat=7\n  heartbeat_seconds: 9", 9),
    ])
    func theHeartbeatIsFromTheFileOrTheURL(url: String, seconds: Int) throws {
        let text = SampleConfiguration.shortest.replacing("amqp://rabbit", with: url)
        let connector = try BrokerConnector(try load(text).broker)
        #expect(connector.connection(named: "test").heartbeatSeconds == seconds)
    }

    // The options apply with and without TLS or a proxy.
    @Test(arguments: ["amqp", "amqps"], ["none", "http://proxy"])
    func socketOptionsReachTheConnectors(scheme: String, proxy: String) throws {
        let text = SampleConfiguration.shortest.replacing(
            "  url: amqp://rabbit\napns:\n",
            with: """
                  url: \(scheme)://rabbit
                  socket: {user_timeout_seconds: 7, source_address: "${HOST_IP}", dscp: 10, send_buffer_bytes: 4096}
                apns:
                  proxy: \(proxy)
                  socket: {connect_timeout_seconds: 2, source_address: "2001:db8::5", receive_buffer_bytes: 67108864}

                """)
        let configuration = try load(text, ["HOST_IP": "10.0.0.5"])
        let loop = VirtualLoop(seed: 1)
        var broker = ConnectOptions()
        (broker.userTimeoutSeconds, broker.dscp, broker.sendBufferBytes) = (7, 10, 4096)
        broker.sourceAddress = SourceAddress("10.0.0.5")
        #expect(try BrokerConnector(configuration.broker).connectors(on: loop).map(\.options) == [broker])
        var apns = ConnectOptions()
        (apns.connectSecondsMax, apns.receiveBufferBytes) = (2, 67_108_864)
        apns.sourceAddress = SourceAddress("2001:db8::5")
        let endpoint = configuration.apns.production.endpoint
        #expect(try APNSConnector(to: endpoint, configuration.apns).byteConnector(on: loop).options == apns)
    }

    @Test(arguments: [
        (
            "source_address: localhost",
            "source_address must be an IP address, such as 10.0.0.5"
        ),
        (
            "source_address: 10.0.0.0/8",
            "source_address must be an IP address, such as 10.0.0.5"
        ),
        ("source_address: '${ABSENT}'", "environment variable ABSENT is not set"),
        ("source_address: ''", "source_address must be an IP address, such as 10.0.0.5"),
        ("send_buffer_bytes: 4095", "amqp.socket.send_buffer_bytes must be at least 4096"),
        ("receive_buffer_bytes: 67108865", "amqp.socket.receive_buffer_bytes must be at most 67108864"),
        ("receive_buffer_bytes: 64k", "amqp.socket.receive_buffer_bytes must be a whole number"),
        ("dscp: 64", "amqp.socket.dscp must be at most 63"),
        ("dscp: -1", "amqp.socket.dscp must be at least 0"),
        ("user_timeout_seconds: 0", "amqp.socket.user_timeout_seconds must be at least 1"),
        ("traffic_class: 10", "unknown key 'traffic_class'"),
    ])
    func anInvalidSocketOptionIsReportedWithItsPosition(option: String, message: String) {
        let text = SampleConfiguration.shortest.replacing(
            "url: amqp://rabbit", with: "url: amqp://rabbit\n  socket: {\(option)}")
        let lines = mistakes(text)
        #expect(lines.count == 1 && lines[0].hasPrefix("martlet.yaml:3:"), "\(lines)")
        #expect(lines[0].contains(message), "\(lines)")
    }

    @Test func theCommandLinesURLHasAHeartbeat() throws {
        let connector = try BrokerOptions(url: "amqp://rabbit?heartbeat=7").connector()
        #expect(connector.connection(named: "test").heartbeatSeconds == 7)
    }

    @Test func anOversizedFileIsReportedWithTheLimit() throws {
        let directory = try TemporaryDirectory()
        try directory.write("martlet.yaml", String(repeating: "#\n", count: 600_000))
        let path = directory.file("martlet.yaml")
        #expect {
            try ConfigurationFile(path).worker()
        } throws: { error in
            "\((error as? ConfigurationError)?.mistakes ?? [])"
                == "[\(path): cannot read the file: larger than 1048576 bytes]"
        }
    }

    /// A change to SampleConfiguration.shortest, and the resulting line for the operator.
    @Test(arguments: [
        ("url: amqp://rabbit", "ulr: amqp://rabbit", "2:3: unknown key 'ulr'; did you mean 'url'?"),
        ("apps:", "app:", "8:1: unknown key 'app'; did you mean 'apps'?"),
        ("  url: amqp://rabbit", "  url: amqp://rabbit\n  zebra: 1", "3:3: unknown key 'zebra'"),
        ("  url: amqp://rabbit", "  url: 5672", "2:8: amqp.url must be a string"),
        (
            "key_id: ABC123DEFG", "key_id: 1234567890",
            "5:15: apns.keys.0.key_id must be a string (The ten-character key ID in the developer account); "
                + "use quotes: \"…\""
        ),
        (
            "com.example.shop: {}", "com.example.shop:",
            "9:20: apps.com.example.shop must be an object; the value is empty: write {} to use the defaults, or "
                + "remove the key"
        ),
        (
            "apps:", "lanes:\napps:",
            "8:7: lanes must be a whole number (Threads that process requests independently); "
                + "the value is empty: write a value, or remove the key"
        ),
        ("  url: amqp://rabbit", "  url: rabbit", "2:8: the AMQP URL must begin with amqp:// or amqps://"),
        (
            "  url: amqp://rabbit", "  url: amqp://rabbit\n  heartbeat_seconds: 0",
            "3:22: amqp.heartbeat_seconds must be at least 1"
        ),
        (
            "  url: amqp://rabbit", "  url: amqp://rabbit\n  heartbeat_seconds: soon",
            "3:22: amqp.heartbeat_seconds must be a whole number"
        ),
        ("  url: amqp://rabbit", "  url: amqp://rabbit\n  prefix: a b", #"3:11: amqp.prefix must match the regular"#),
        (
            "  url: amqp://rabbit", "  url: amqp://u:${NOT_SET}@rabbit",
            "2:8: environment variable NOT_SET is not set"
        ),
        ("  url: amqp://rabbit", "  url: file:gone", "2:8: cannot read gone: no such file"),
        (
            "  url: amqp://rabbit", "  url: amqp://rabbit\n  tls: {ca_file: AuthKey.p8}",
            "3:8: tls requires a URL that begins with amqps://"
        ),
        (
            "  url: amqp://rabbit", "  url: amqps://rabbit\n  tls: {ca_file: AuthKey.p8}",
            "3:18: the certificate authorities' PEM contains no CERTIFICATE"
        ),
        (
            "  url: amqp://rabbit", "  url: amqps://rabbit\n  tls: {certificate_file: AuthKey.p8}",
            "3:27: certificate_file and key_file require each other"
        ),
        ("key_file: AuthKey.p8", "key_file: gone.p8", "7:17: cannot read gone.p8: no such file"),
        ("key_file: AuthKey.p8", "key_file: secret", "7:17: the key file contains no complete PEM block"),
        ("      key_file: AuthKey.p8", "", "5:7: a key requires either key_file or private_key"),
        ("ABC123DEFG", "ABC", "5:15: a key ID must be 10 letters or digits"),
        ("DEF123GHIJ", "'DEF 123 GHI'", "6:16: a team ID must be 10 letters or digits"),
        ("{}", "{key: ABC123DEFH}", "9:27: no key ABC123DEFH in apns.keys; did you mean ABC123DEFG?"),
        (
            "{}", "{environment: Sandbox}",
            #"9:35: apps.com.example.shop.environment must be one of "production", "sandbox" (did you mean "sandbox"?)"#
        ),
        (
            "  com.example.shop: {}", "  com.example.shop: {}\nlog: {level: warn}",
            #"10:14: log.level must be one of "debug", "info", "warning", "error" (did you mean "warning"?)"#
        ),
        (
            "  com.example.shop: {}", "  com.example.shop: {}\nretry: {resend_unknown: no}",
            "10:25: retry.resend_unknown must be a boolean (did you mean false?); yes, no, on and off are strings in YAML 1.2"
        ),
        ("  url: amqp://rabbit", "\turl: amqp://rabbit", "2:1: a tab is not allowed in indentation; use spaces"),
        ("{}", "{environment: development}", #"9:35: apps.com.example.shop.environment must be one of "production""#),
        ("  com.example.shop: {}", "  {}", "9:3: apps must have at least 1 member"),
        ("  com.example.shop: {}", "  com.example.*: {}", "9:3: apps.com.example.* must match the regular expression"),
    ])
    func aMistakeIsReportedWithItsPosition(written: String, instead: String, line: String) throws {
        let text = SampleConfiguration.shortest.replacing(written, with: instead)
        try #require(text != SampleConfiguration.shortest)
        let lines = mistakes(text)
        #expect(lines.contains { $0.hasPrefix("martlet.yaml:\(line)") }, "\(lines)")
        #expect(!lines.joined().contains("hunter2"))
    }

    // Secret stores and environment files may change line ends.
    @Test(arguments: ["\\n", " ", "", "\n    ", "\r"]) func aKeyWithoutLineEndsIsRead(_ end: String) throws {
        let key = try #require(Self.key)
        let variable = key.split(separator: "\n").joined(separator: end) + end
        let text = SampleConfiguration.shortest.replacing("key_file: AuthKey.p8", with: "private_key: ${APNS_KEY}")
        #expect(try load(text, ["APNS_KEY": variable]).apns.keys.map(\.privateKey) == [ES256PrivateKey(pem: key)])
        let inline = SampleConfiguration.shortest.replacing("key_file: AuthKey.p8", with: "private_key: '\(variable)'")
        #expect(mistakes(inline) == [])
    }

    @Test(arguments: [
        ("${APNS_KEY}", "", "7:20: environment variable APNS_KEY is empty"),
        ("${APNS_KEY}", "AuthKey.p8", "7:20: environment variable APNS_KEY contains no complete PEM block"),
        ("'${APNS_KEY}${APNS_KEY}'", "a", "7:20: private_key contains no complete PEM block"),
        ("file:secret", "", "7:20: the file secret contains no complete PEM block"),
        ("hunter2", "", "7:20: private_key contains no complete PEM block"),
    ])
    func aMistakeInAKeyNamesItsSource(_ written: String, _ variable: String, _ line: String) {
        let text = SampleConfiguration.shortest.replacing("key_file: AuthKey.p8", with: "private_key: \(written)")
        let lines = mistakes(text, ["APNS_KEY": variable])
        #expect(lines.count == 1 && lines[0].hasPrefix("martlet.yaml:\(line)"), "\(lines)")
        #expect(!lines.joined().contains("hunter2"))
    }

    // Some editors on Windows write a byte-order mark.
    @Test func aByteOrderMarkMayComeFirst() throws {
        #expect(try load("\u{FEFF}" + SampleConfiguration.shortest).apps.count == 1)
    }

    @Test func allMistakesAreReportedInTheOrderOfTheFile() {
        let lines = mistakes(
            """
            amqp:
              url: http://u:hunter2@rabbit
              prefetsh: 5
            apns:
              keys:
                - {key_id: ABC123DEFG, team_id: DEF123GHIJ, key_file: gone.p8}
            apps:
              com.example.shop: {key: OTHER12345}
            lanes: 0
            """)
        #expect(
            lines == [
                "martlet.yaml:2:8: the AMQP URL must begin with amqp:// or amqps://",
                "martlet.yaml:3:3: unknown key 'prefetsh'",
                "martlet.yaml:6:59: cannot read gone.p8: no such file",
                "martlet.yaml:8:27: no key OTHER12345 in apns.keys",
                "martlet.yaml:9:8: lanes must be at least 1 (Threads that process "
                    + "requests independently)",
            ])
    }

    @Test func theFileMayNameAnEditorsSchema() throws {
        #expect(throws: Never.self) { try load("$schema: config.schema.json\n" + SampleConfiguration.shortest) }
    }

    @Test func aSingleRequestQueueMayBeNamed() throws {
        let configuration = try load(
            SampleConfiguration.shortest.replacing(
                "url: amqp://rabbit", with: "url: amqp://rabbit\n  requests_queue: orders"))
        #expect(configuration.requestQueues == [RequestQueue(name: "orders", prefetch: 1000)])
    }

    @Test func aRequestQueueMayHaveShards() throws {
        let queues =
            "url: amqp://rabbit\n  request_queues: [{name: orders, shards: 3, prefetch: 9}, {name: bulk, shards: 1}]"
        let configuration = try load(SampleConfiguration.shortest.replacing("url: amqp://rabbit", with: queues))
        #expect(configuration.broker.names.shardCounts == ["orders": 3])
        #expect(
            configuration.requestQueues.map(\.name) == ["orders", "orders.0", "orders.1", "orders.2", "bulk"])
        #expect(configuration.requestQueues.map(\.prefetch) == [2, 3, 2, 2, 1000])
        #expect(configuration.topology.queues.contains { $0.name == "orders.2" })
    }

    @Test(arguments: [
        (
            "{name: orders, shards: 4, prefetch: 4}",
            "56: prefetch must be at least 5: 4 shards and the queue itself need one message each"
        ),
        (
            "{name: orders, shards: 4}",
            "43: limits.in_flight_max must be at least 5: 4 shards and the queue itself need one message each"
        ),
        (
            "{name: push.wait, shards: 2, prefetch: 9}",
            "19: push.wait.0 must not be a request queue: Martlet reserves this name"
        ),
        (
            "{name: a, shards: 2, prefetch: 9}, {name: a.1}",
            "38: the name of the shard a.1 is also the name of another queue"
        ),
    ])
    func invalidShardsAreReported(queues: String, message: String) {
        let text = SampleConfiguration.shortest.replacing(
            "amqp://rabbit", with: "amqp://rabbit\n  request_queues: [\(queues)]")
        let lines = mistakes(text + "\nlimits: {in_flight_max: 4}").filter { !$0.contains("push.wait.1") }
        #expect(lines == ["martlet.yaml:3:\(message)"])
    }

    @Test(arguments: [
        ("[5s, 30s, 30s]", "21: delays must ascend; the previous delay is 30s"),
        ("[2m, 90s]", "16: delays must ascend; the previous delay is 2m"),
        ("[25h]", "12: the duration must be at most 24h"),
        ("[9999999h]", "12: the duration must be at most 24h"),
        ("[5s, 7]", "16: retry.delays.1 must be a string"),
    ])
    func invalidDelaysAreReported(delays: String, message: String) {
        let lines = mistakes(SampleConfiguration.shortest + "\nretry:\n  delays: \(delays)")
        #expect(lines.count == 1 && lines[0].contains("11:\(message)"), "\(lines)")
    }

    @Test func aKeyOfAnEarlierVersionIsReportedWithItsReplacement() {
        #expect(
            mistakes(SampleConfiguration.shortest + "\nretry: {delay_seconds: 30}") == [
                "martlet.yaml:10:9: unknown key 'delay_seconds'; use retry.delays, "
                    + "a list such as [30s, 2m, 10m]"
            ])
    }

    @Test func requestQueuesHaveUniqueNamesAndKeys() {
        let queues = """
            url: amqp://rabbit
              requests_queue: orders
              request_queues:
                - {name: push.bulk}
                - {name: push.bulk, routing_key: mail}
                - {name: shop.bulk, prefetch: 0}
            """
        let others = """
            url: amqp://rabbit
              request_queues:
                - {name: push.dead}
                - {name: bulk, routing_key: "#.dead"}
            """
        let lines = mistakes(SampleConfiguration.shortest.replacing("url: amqp://rabbit", with: queues))
        #expect(
            lines.map { $0.prefix(64) } == [
                "martlet.yaml:3:19: requests_queue and request_queues are mutuall",
                "martlet.yaml:6:14: duplicate queue push.bulk",
                "martlet.yaml:7:14: routing key bulk is a duplicate; a request ro",
                "martlet.yaml:7:35: amqp.request_queues.2.prefetch must be at lea",
            ], "\(lines)")
        #expect(
            mistakes(SampleConfiguration.shortest.replacing("url: amqp://rabbit", with: others)) == [
                "martlet.yaml:4:5: push.dead must not be a request queue: Martlet reserves this name",
                "martlet.yaml:5:33: routing key #.dead overlaps dead; a request routed to both queues would be pushed "
                    + "twice",
            ])
    }

    @Test func aKeyThatDoesNotServeItsAppsEnvironmentIsReported() {
        let pinned = SampleConfiguration.shortest.replacing(
            "AuthKey.p8", with: "AuthKey.p8\n      environments: [sandbox]")
        #expect(
            mistakes(pinned) == [
                "martlet.yaml:10:3: key ABC123DEFG does not serve production, the default environment of "
                    + "com.example.shop; for another default, set environment: sandbox"
            ])
        #expect(mistakes(pinned.replacing("{}", with: "{environment: sandbox}")) == [])
    }

    // Rows 83 and 86 of the conformance table.
    @Test func noTwoKeysShareAPool() throws {
        let other = "com.example.shop: {key: ABC123DEFG}\n  com.example.other: {key: XYZ123DEFG}"
        let pools = try ConnectionPools(
            try load(
                SampleConfiguration.shortest.replacing("com.example.shop: {}", with: other)
                    .replacing(
                        "apps:", with: "    - {key_id: XYZ123DEFG, team_id: DEF123GHIJ, key_file: AuthKey.p8}\napps:")))
        #expect(
            pools.list.map { "\($0.configuration.credential)" }
                == ["key ABC123DEFG", "key ABC123DEFG", "key XYZ123DEFG", "key XYZ123DEFG"])
        #expect(pools.apps[0].production == .init(0) && pools.apps[0].sandbox == .init(1))
        #expect(pools.apps[1].production == .init(2) && pools.apps[1].sandbox == .init(3))
    }

    @Test func aKeyHasOnePoolPerEnvironment() throws {
        let pinned = SampleConfiguration.shortest.replacing(
            "AuthKey.p8", with: "AuthKey.p8\n      environments: [sandbox]"
        )
        .replacing("{}", with: "{environment: sandbox}")
        let pools = try ConnectionPools(try load(pinned))
        #expect(pools.list.count == 1)
        #expect(pools.apps[0].sandbox == .init(0) && pools.apps[0].production == nil)
        let elsewhere = try ConnectionPools(
            try load(
                SampleConfiguration.shortest.replacing(
                    "apns:\n", with: "apns:\n  endpoints: {sandbox: {broadcast_host: b.test}}\n")))
        #expect(elsewhere.apps[0].production == .init(0) && elsewhere.apps[0].sandbox == .init(device: 1, broadcast: 2))
        #expect(elsewhere.list.map(\.endpoint.host) == ["api.push.apple.com", "api.sandbox.push.apple.com", "b.test"])
        let both = try ConnectionPools(try load(SampleConfiguration.shortest))
        #expect(both.apps[0].production == .init(0) && both.apps[0].sandbox == .init(1))
    }

    @Test(arguments: [
        ("", "martlet.yaml:1:1: the text is empty"), ("[]", "the file must be an object"),
        ("amqp: [", "martlet.yaml:"),
        ("{}", #"the file lacks the property "amqp""#),
    ])
    func malformedFilesAreReported(text: String, line: String) {
        let lines = mistakes(text)
        #expect(lines.contains { $0.contains(line) }, "\(lines)")
    }

    @Test func anUnreadableFileIsReported() {
        #expect {
            try ConfigurationFile("/nowhere/martlet.yaml").worker()
        } throws: { error in
            "\((error as? ConfigurationError)?.mistakes ?? [])"
                == "[/nowhere/martlet.yaml: cannot read the file: no such file]"
        }
    }

    // Workers on one machine can share a configuration file, with different variables.
    @Test func theAdminEndpointMayContainVariables() throws {
        let text = SampleConfiguration.shortest + "\nadmin: {listen: \"127.0.0.1:${ADMIN_PORT}\"}\n"
        #expect(try load(text, ["ADMIN_PORT": "9781"]).admin.listen == Endpoint(host: "127.0.0.1", port: 9781))
    }

    @Test func descriptionsContainNoSecret() throws {
        let configuration = try load(
            SampleConfiguration.shortest.replacing(
                "url: amqp://rabbit",
                with: "url: amqp://martlet:${PASSWORD}@rabbit\n  management_url: http://ops:${PASSWORD}@rabbit"))
        #expect(configuration.broker.management?.credentials?.password == "hunter2")
        var dumped = ""
        dump(configuration, to: &dumped)
        #expect(configuration.broker.url.credentials.password == "hunter2")
        #expect(!"\(configuration) \(String(reflecting: configuration)) \(dumped)".contains("hunter2"))
        #expect(!dumped.contains("PRIVATE KEY"))
    }

    @Test func theExamplesOfTheSchemaAreValid() throws {
        #expect(ConfigurationSchema.compiled().unknownKeywords.isEmpty)
        let key = try ES256PrivateKey.generate().pkcs8PEM()
        let schema = try String(
            decoding: FileReader.bytes(of: Products.file("schemas/config.schema.json"), bytesMax: 1 << 20),
            as: UTF8.self)
        let start = try #require(schema.ranges(of: #""examples": ["#).last?.upperBound)
        let end = try #require(schema.lastIndex(of: "]"))
        let file = ConfigurationFile(
            "example.yaml",
            resolver: ReferenceResolver(environment: { _ in "x" }, readFile: { _ in Array(key.utf8) }))
        #expect(throws: Never.self) { try file.worker(text: Array(schema[start..<end].utf8)) }
    }

    // `martlet validate` checks requests on machines that lack secrets. An app with an unreadable credential is still a
    // known app.
    @Test(arguments: [
        "keys: [{key_id: '${KEY}', team_id: DEF123GHIJ, key_file: absent.p8}]",
        "keys: [{key_id: '${KEY}', team_id: '${TEAM}', private_key: '${PEM}'}]",
        "keys: [{key_id: '${EMPTY}', team_id: DEF123GHIJ, key_file: absent.p8}]",
        "keys: [{key_id: 'file:absent', team_id: DEF123GHIJ, key_file: absent.p8}]",
        "keys: [{key_id: ABC123DEFG, team_id: '${TEAM}', key_file: absent.p8}]",
        "certificates: [{file: absent.p12, passphrase: '${PASS}'}]", "keys: []", "",
    ])
    func anUnreadableCredentialHidesNoApp(_ apns: String) throws {
        for app in ["{}", "{environment: sandbox}", "{key: '${KEY}'}", "{certificate: absent.p12}"] {
            let text = "amqp: {url: 'amqp://rabbit'}\napns: {\(apns)}\napps: {com.example.shop: \(app)}"
            let rules: RequestRules
            do {
                rules = try file(["EMPTY": ""]).requestRules(text: Array(text.utf8))
            } catch {
                // The command may refuse the configuration, but then it reports a reason.
                #expect(error.mistakes.contains { !$0.message.isEmpty })
                continue
            }
            let request =
                #"{"app":"com.example.shop","device_token":"ab","push_type":"alert","payload":{"aps":{"alert":"x"}}}"#
            #expect(RequestCheck(rules).problem(in: Array(request.utf8)) == nil, "\(text)")
        }
    }

    @Test func unreadableKeysHideNoAppFromRequestChecks() throws {
        let text = SampleConfiguration.shortest.replacing("ABC123DEFG", with: "${KEY}").replacing(
            "AuthKey.p8", with: "absent.p8")
        let rules = try file([:]).requestRules(text: Array(text.utf8))
        func code(_ app: String) -> String? {
            let request = #"{"app":"\#(app)","device_token":"ab","push_type":"alert","payload":{"aps":{"alert":"x"}}}"#
            return RequestCheck(rules).problem(in: Array(request.utf8))?.reason
        }
        #expect(code("com.example.shop") == nil && code("com.example.shoq") == "app.unknown")
    }

    @Test func anEmptyKeyReferenceIsAMistake() {
        let text = SampleConfiguration.shortest.replacing("shop: {}", with: "shop: {key: '${EMPTY}'}")
        #expect(mistakes(text, ["EMPTY": ""]) == ["martlet.yaml:9:27: ${EMPTY} is empty"])
    }

    private static let key = try? ES256PrivateKey.generate().pkcs8PEM()

    private func load(
        _ text: String, _ variables: [String: String] = [:]
    ) throws(ConfigurationError) -> WorkerConfiguration {
        try file(variables).worker(text: Array(text.utf8))
    }

    private func file(_ variables: [String: String]) -> ConfigurationFile {
        let key = Self.key ?? ""
        let resolver = ReferenceResolver(
            environment: { $0 == "PASSWORD" ? "hunter2" : variables[$0] },
            readFile: { name throws(ReferenceResolver.ReadFailure) in
                switch name {
                case "AuthKey.p8": Array(key.utf8)
                case "secret": Array("hunter2\n".utf8)
                default: throw ReferenceResolver.ReadFailure(reason: "no such file")
                }
            })
        return ConfigurationFile("martlet.yaml", resolver: resolver)
    }

    private func mistakes(_ text: String, _ variables: [String: String] = [:]) -> [String] {
        do {
            _ = try load(text, variables)
            return []
        } catch {
            return error.mistakes.map(\.description)
        }
    }
}
