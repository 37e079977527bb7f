import AMQP
import BrokerTopology
import Crypto
import Delivery
import EventLoop
import HTTPClient
import JSON
import TLS
import Telemetry

/// A reader that creates a `WorkerConfiguration` from the values of a file. It collects mistakes that the schema cannot
/// express, such as unresolved references, missing files and invalid keys. It skips values of the wrong type, which the
/// schema reports.
struct ConfigurationReader {
    /// Maximum of `retry.age_max`, `retry.hold_max` and `topology.results.age_max`. It is thirty days, the maximum time
    /// that APNs stores a notification.
    private static let ageSecondsMax = 30 * 86_400

    let path: String
    let resolver: ReferenceResolver
    private(set) var mistakes: [ConfigurationError.Mistake] = []
    private let position: (JSONValue) -> JSONPosition

    init(path: String, resolver: ReferenceResolver, position: @escaping (JSONValue) -> JSONPosition) {
        self.path = path
        self.resolver = resolver
        self.position = position
    }

    /// Reads the whole configuration. Returns nil if a required value is missing or invalid. The schema violations or
    /// `mistakes` then contain the reason.
    ///
    /// - Parameter payloadSchemas: replaces the schemas that the configuration names; nil to read these schemas.
    mutating func readWorker(_ root: JSONValue, payloadSchemas: PayloadSchemaFiles? = nil) -> WorkerConfiguration? {
        let broker = root["amqp"].flatMap { brokerSection($0) }
        let apns = root["apns"].flatMap { readAPNs($0) }
        let apps = root["apps"].map { readApps($0, root["apns"], apns?.certificates ?? []) }
        let payloadSchemas = payloadSchemas ?? readPayloadSchemas(root["payload_schemas"], apps: root["apps"])
        guard let broker, let apns, let apps else { return nil }
        var configuration = WorkerConfiguration(broker: broker, apns: apns, apps: apps)
        configuration.payloadSchemas = payloadSchemas
        configuration.limits = readLimits(root["limits"])
        complainOfPrefetch(root, configuration)
        configuration.retry = readRetry(root["retry"])
        configuration.resendsUnknown = root["retry"]?["resend_unknown"]?.bool ?? configuration.resendsUnknown
        configuration.results = readResults(root["topology"]?["results"])
        configuration.lanes = root["lanes"]?.int
        configuration.admin = readAdmin(root["admin"])
        configuration.tracing = readTracing(root["tracing"])
        configuration.channels = readChannels(root["channels"], broker)
        configuration.registrations = readRegistrations(root["registrations"], broker)
        configuration.fleet = readFleet(root["fleet"])
        configuration.journal = readJournal(root)
        configuration.logLevel = root["log"]?["level"]?.string.flatMap { LogLevel($0) } ?? configuration.logLevel
        return configuration
    }

    /// Reads only the settings of the broker and the topology. Returns nil if the URL of the broker is missing or
    /// invalid.
    mutating func readBroker(_ root: JSONValue) -> (broker: WorkerConfiguration.Broker, topology: Topology)? {
        guard let broker = root["amqp"].flatMap({ brokerSection($0) }) else { return nil }
        let results = readResults(root["topology"]?["results"])
        let channels = readChannels(root["channels"], broker)
        let topology = WorkerConfiguration.topology(
            broker, readRetry(root["retry"]), results, channels, hasRegistrations: hasRegistrations(root),
            hasFleetControl: hasFleetControl(root), hasJournal: hasJournal(root))
        return (broker, topology)
    }

    /// Reads only the rules for requests, and no secret. Returns nil if `apps` is missing.
    mutating func readRequestRules(_ root: JSONValue) -> RequestRules? {
        guard let section = root["apps"] else { return nil }
        return RequestRules(
            readCheckedApps(section, root["apns"]), readPayloadSchemas(root["payload_schemas"], apps: section),
            messageBytesMax: readLimits(root["limits"]).messageBytesMax, hasRegistrations: hasRegistrations(root))
    }

    /// Reads only the printed parts of the topology, but neither `amqp.password` nor a certificate. Returns nil if the
    /// URL of the broker is missing or invalid.
    mutating func readPrintedTopology(_ root: JSONValue) -> PrintedTopology? {
        guard let section = root["amqp"], let url = section["url"].flatMap({ brokerURL($0) }) else { return nil }
        var broker = WorkerConfiguration.Broker(url: url)
        readNames(section, into: &broker)
        let results = readResults(root["topology"]?["results"])
        let channels = readChannels(root["channels"], broker)
        let user = url.namesUser ? nil : section["username"]?.string
        return PrintedTopology(
            topology: WorkerConfiguration.topology(
                broker, readRetry(root["retry"]), results, channels, hasRegistrations: hasRegistrations(root),
                hasFleetControl: hasFleetControl(root), hasJournal: hasJournal(root)),
            virtualHost: url.virtualHost,
            user: user.map { try? resolver.resolve($0) } ?? url.credentials.user)
    }

    mutating func brokerURL(_ value: JSONValue) -> AMQPURL? {
        guard let text = text(value) else { return nil }
        do {
            return try AMQPURL(text)
        } catch {
            complain(value, error.message)
            return nil
        }
    }

    mutating func brokerSection(_ section: JSONValue) -> WorkerConfiguration.Broker? {
        let user = section["username"].flatMap { text($0) }
        let password = section["password"].flatMap { text($0) }
        let tls = readTLS(section["tls"])
        let serverName = section["tls"]?["server_name"].flatMap { text($0) }
        guard var url = section["url"].flatMap({ brokerURL($0) }) else { return nil }
        if let user, !url.namesUser { url.credentials.user = user }
        if let password, !url.namesUser || url.credentials.password.isEmpty {
            url.credentials.password = password
        }
        if !url.usesTLS, let tls = section["tls"] {
            complain(tls, "tls requires a URL that begins with amqps://")
        }
        var broker = WorkerConfiguration.Broker(url: url)
        broker.namesUser = url.namesUser || user != nil
        readNames(section, into: &broker)
        broker.heartbeatSeconds = section["heartbeat_seconds"]?.int
        broker.socket = section["socket"].map { connectOptions($0, otherwise: url.connectOptions) }
        broker.tls = tls
        broker.serverName = serverName
        broker.management = section["management_url"].flatMap { readManagement($0, login: url.credentials) }
        return broker
    }

    mutating func readNames(_ section: JSONValue, into broker: inout WorkerConfiguration.Broker) {
        let prefix = section["prefix"].flatMap { text($0) }
        broker.requestQueues = readRequestQueues(section)
        let shards = broker.requestQueues.map { ($0.name, $0.shards) }
        broker.names = TopologyNames(
            prefix: prefix ?? broker.names.prefix, requestQueues: broker.requestQueues.map(\.name),
            shards: Dictionary(shards) { first, _ in first })
        for name in broker.names.requestQueuesAndShards where broker.names.isReserved(name) {
            complain(
                section["request_queues"] ?? section["requests_queue"] ?? section,
                "\(name) must not be a request queue: Martlet reserves this name")
        }
        complainOfShards(section, broker.names)
    }

    /// Reports a shard that has the name of another request queue.
    private mutating func complainOfShards(_ section: JSONValue, _ names: TopologyNames) {
        for value in section["request_queues"].map({ Array($0.elements) }) ?? [] {
            guard let name = value["name"].flatMap({ text($0) }) else { continue }
            if let both = names.shards(of: name).first(where: { names.requestQueues.contains($0) }) {
                complain(value["shards"] ?? value, "the name of the shard \(both) is also the name of another queue")
            }
        }
    }

    /// Reports a prefetch that is too small. Each shard and the queue itself need one message of the prefetch.
    private mutating func complainOfPrefetch(_ root: JSONValue, _ configuration: WorkerConfiguration) {
        let values = root["amqp"]?["request_queues"].map { Array($0.elements) } ?? []
        for (value, queue) in zip(values, configuration.broker.requestQueues) {
            let prefetch = queue.prefetch ?? configuration.limits.inFlightMax
            guard queue.shards > 1, prefetch <= queue.shards else { continue }
            let (what, name) =
                queue.prefetch == nil ? ("limits.in_flight_max", "shards") : ("prefetch", "prefetch")
            complain(
                value[key: name] ?? value,
                "\(what) must be at least \(queue.shards + 1): "
                    + "\(queue.shards) shards and the queue itself need one message each")
        }
    }

    /// Reads the URL of the management API. A URL without credentials gets the credentials of the AMQP connection.
    mutating func readManagement(_ value: JSONValue, login: AMQPCredentials) -> HTTPURL? {
        guard let text = text(value) else { return nil }
        do {
            var url = try HTTPURL(text)
            url.credentials = url.credentials ?? .init(user: login.user, password: login.password)
            return url
        } catch {
            complain(value, error.message)
            return nil
        }
    }

    private mutating func readRequestQueues(_ section: JSONValue) -> [WorkerConfiguration.Broker.Queue] {
        guard let list = section["request_queues"], list.kind == .array else {
            return section["requests_queue"].flatMap { text($0) }.map { [.init(name: $0)] } ?? []
        }
        if let one = section["requests_queue"] {
            complain(one, "requests_queue and request_queues are mutually exclusive; remove requests_queue")
        }
        var queues: [WorkerConfiguration.Broker.Queue] = []
        var keys: [String] = []
        for value in list.elements {
            guard let name = value["name"].flatMap({ text($0) }) else { continue }
            if queues.contains(where: { $0.name == name }) {
                complain(value["name"] ?? value, "duplicate queue \(name)")
            }
            let key = value["routing_key"].flatMap { text($0) }
            let effective = key ?? Topology.lastWord(of: name)
            if let taken = keys.first(where: { BindingKey.overlap($0, effective) }) {
                let words = taken == effective ? "is a duplicate" : "overlaps \(taken)"
                complain(
                    value["routing_key"] ?? value["name"] ?? value,
                    "routing key \(effective) \(words); a request routed to both queues would be pushed twice")
            }
            keys.append(effective)
            queues.append(
                .init(
                    name: name, prefetch: value["prefetch"]?.int, routingKey: key,
                    shards: readShards(value["shards"])))
        }
        return queues
    }

    /// Returns the number of shards, clamped to the valid range. The schema reports invalid numbers.
    private func readShards(_ value: JSONValue?) -> Int {
        value?.int.map { min(max(1, $0), TopologyNames.shardsMax) } ?? 1
    }

    mutating func readTLS(_ section: JSONValue?) -> TLSClientConfiguration {
        var tls = TLSClientConfiguration()
        guard let section else { return tls }
        tls.trust = readTrust(section["ca_file"])
        switch (section["certificate_file"], section["key_file"]) {
        case (nil, nil): break
        case (let certificate?, let key?):
            guard let chain = pem(certificate), let privateKey = pem(key) else { break }
            let identity = TLSIdentity(certificateChainPEM: chain, privateKeyPEM: privateKey)
            if isUsable(TLSClientConfiguration(identity: identity), certificate) { tls.identity = identity }
        case (let one?, nil), (nil, let one?):
            complain(one, "certificate_file and key_file require each other")
        }
        return tls
    }

    mutating func readTrust(_ value: JSONValue?) -> TLSTrust {
        guard let value, let text = pem(value) else { return .system }
        return isUsable(TLSClientConfiguration(trust: .pem(text)), value) ? .pem(text) : .system
    }

    /// Returns whether TLS accepts the configuration. Reports a mistake here, where the file is known, instead of at
    /// the first connection.
    mutating func isUsable(_ tls: TLSClientConfiguration, _ value: JSONValue) -> Bool {
        do {
            _ = try TLSContext(client: tls)
            return true
        } catch {
            complain(value, error.message)
            return false
        }
    }

    private mutating func pem(_ value: JSONValue) -> String? {
        file(value).map { String(decoding: $0, as: UTF8.self) }
    }

    private mutating func readPayloadSchemas(_ section: JSONValue?, apps: JSONValue?) -> PayloadSchemaFiles {
        let bundleIDs = apps?.members.compactMap(\.key.string)
        var files = PayloadSchemaFiles()
        guard let section, section.kind == .object else { return files }
        for (name, value) in section.members {
            guard let pattern = name.string.map({ AppPattern(text: $0) }), let written = value.string else { continue }
            if let bundleIDs, !bundleIDs.contains(where: { pattern.matches($0) }) {
                complain(name, "no app in apps matches this pattern")
            }
            do {
                let file = FileReader.path(try resolver.replacingVariables(written), relativeTo: path)
                files.files.append(try .init(pattern: pattern, path: file))
            } catch let error as ReferenceResolver.Mistake {
                complain(value, error.message)
            } catch {
                complain(value, "\(error)")
            }
        }
        return files
    }

    private mutating func readAdmin(_ section: JSONValue?) -> WorkerConfiguration.Admin {
        var admin = WorkerConfiguration.Admin()
        guard let section else { return admin }
        admin.isEnabled = section["enabled"]?.bool ?? admin.isEnabled
        if let value = section["listen"], let text = text(value) {
            admin.listen = Endpoint(text)
            if admin.listen == nil {
                complain(value, "admin.listen must be an address and a port, such as 127.0.0.1:9780")
            }
        }
        if let value = section["socket"], let path = text(value) {
            admin.socketPath = FileReader.path(path, relativeTo: self.path)
        }
        return admin
    }

    private mutating func readTracing(_ section: JSONValue?) -> WorkerConfiguration.Tracing? {
        guard let value = section?["endpoint"], let text = text(value) else { return nil }
        do {
            let name = section?["service_name"].flatMap { self.text($0) }
            return WorkerConfiguration.Tracing(endpoint: try HTTPURL(text), serviceName: name ?? "martlet")
        } catch {
            complain(value, error.message)
            return nil
        }
    }

    mutating func readChannels(
        _ section: JSONValue?, _ broker: WorkerConfiguration.Broker
    ) -> WorkerConfiguration.Channels? {
        guard let section, section.kind == .object else { return nil }
        return WorkerConfiguration.Channels(replyPrefix: readReplyPrefix(section["reply_prefix"], broker))
    }

    /// Reads the prefix of the names of the queues that may receive replies.
    mutating func readReplyPrefix(_ value: JSONValue?, _ broker: WorkerConfiguration.Broker) -> String? {
        guard let value, let prefix = text(value) else { return nil }
        let own = "\(broker.names.prefix)."
        if own.hasPrefix(prefix) || prefix.hasPrefix(own) {
            complain(value, "reply_prefix must not apply to the worker's own queues, whose names begin with \(own)")
        }
        return prefix
    }

    private func readLimits(_ section: JSONValue?) -> WorkerConfiguration.Limits {
        var limits = WorkerConfiguration.Limits()
        guard let section else { return limits }
        limits.inFlightMax = section["in_flight_max"]?.int ?? limits.inFlightMax
        limits.messageBytesMax = section["message_bytes_max"]?.int ?? limits.messageBytesMax
        limits.bodiesInFlightBytesMax = section["bodies_in_flight_bytes_max"]?.int ?? limits.bodiesInFlightBytesMax
        limits.drainDeadlineSeconds = section["drain_deadline_seconds"]?.int ?? limits.drainDeadlineSeconds
        limits.eachApp = readPushLimits(section["each_app"])
        return limits
    }

    func readPushLimits(_ section: JSONValue?) -> PushLimits {
        PushLimits(
            inFlightMax: section?["pushes_in_flight"]?.int,
            perSecondMax: (section?["pushes_per_second"]?.int).map { Double($0) })
    }

    mutating func readRetry(_ section: JSONValue?) -> RetrySchedule {
        var retry = RetrySchedule()
        guard let section else { return retry }
        retry.attemptsMax = section["attempts_max"]?.int ?? retry.attemptsMax
        retry.ageSecondsMax =
            section["age_max"].flatMap { seconds($0, upTo: Self.ageSecondsMax) } ?? retry.ageSecondsMax
        retry.holdSecondsMax =
            section["hold_max"].flatMap { seconds($0, upTo: Self.ageSecondsMax) } ?? retry.holdSecondsMax
        if let delays = section["delays"], delays.kind == .array {
            var waits: [WaitDelay] = []
            for value in delays.elements {
                guard let seconds = seconds(value, upTo: WaitDelay.secondsMax) else { continue }
                let wait = WaitDelay(seconds: seconds)
                if let last = waits.last, wait <= last {
                    complain(value, "delays must ascend; the previous delay is \(last.label)")
                }
                waits.append(wait)
            }
            if !waits.isEmpty { retry.waits = waits }
        }
        return retry
    }

    mutating func readResults(_ section: JSONValue?) -> ResultsRetention {
        var results = ResultsRetention()
        guard let section else { return results }
        results.hasQueue = section["queue"]?.bool ?? results.hasQueue
        results.ageSecondsMax =
            section["age_max"].flatMap { seconds($0, upTo: Self.ageSecondsMax) } ?? results.ageSecondsMax
        results.lengthMax = section["length_max"]?.int ?? results.lengthMax
        return results
    }

    /// Returns the path of the file that the value names; nil if the value is not a string, or a variable in the path
    /// does not resolve.
    func filePath(_ value: JSONValue) -> String? {
        value.string.flatMap { try? resolver.replacingVariables($0) }
            .map { FileReader.path($0, relativeTo: path) }
    }

    mutating func complain(_ value: JSONValue, _ message: String) {
        mistakes.append(ConfigurationError.Mistake(path: path, position: position(value), message: message))
    }
}
