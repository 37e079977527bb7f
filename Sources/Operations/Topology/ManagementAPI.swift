import AMQP
import Delivery
import EventLoop
import Glibc
import HTTPClient
import JSON
import TLS
import Threads

/// RabbitMQ's management API (https://www.rabbitmq.com/docs/management#http-api): one small request for each thing, so
/// that what else the broker holds does not matter. Blocks; used by one thread at a time.
final class ManagementAPI {
    /// Why something is not seen, for an operator.
    struct Failure: Error, Equatable {
        let message: String
        /// The user may not, which says nothing of whether the rest is there.
        var isRefusal = false
    }

    private static let answerMillisecondsMax = 5_000
    private static let answerBytesMax = 4 << 20
    /// Statistics are collected every 5 s (`collect_statistics_interval`) and shown later: some ten seconds in all.
    private static let statisticsLagMillisecondsMax: Int64 = 15_000
    private static let lookAgainMicroseconds: UInt32 = 500_000

    private let client = HTTPClient()
    private let base: HTTPURL
    private let virtualHost: String
    private let authoritiesPEM: String?

    init(_ access: ManagementAccess) {
        base = access.url
        virtualHost = access.virtualHost
        authoritiesPEM = access.authoritiesPEM
    }

    var place: String { base.place }

    struct Overview {
        /// The broker's.
        var version: String
        /// The broker's clock; nil where it does not say.
        var unixSeconds: Int64?
        /// nil: not shown.
        var exchangeTypes: Set<String>?
        /// Whether statistics are enabled.
        var showsStatistics: Bool
    }

    func overview() throws(Failure) -> Overview {
        let response = try ask(.get, ["overview"])
        let root = try document(response).root
        guard let version = root["rabbitmq_version"]?.string else { throw strange }
        let types = root["exchange_types"]?.elements.filter { $0["enabled"]?.bool != false }.compactMap {
            $0["name"]?.string
        }
        return Overview(
            version: version, unixSeconds: response.header("date").flatMap { HTTPDate.unixSeconds($0) },
            exchangeTypes: types.map { Set($0) }, showsStatistics: root["disable_stats"]?.bool != true)
    }

    /// nil: there is none of that name.
    func exchange(_ name: String) throws(Failure) -> BrokerPicture.Exchange? {
        guard let found = try find(["exchanges", virtualHost, name]) else { return nil }
        return BrokerPicture.Exchange(
            kind: found.root["type"]?.string ?? "", arguments: Self.texts(found.root["arguments"]))
    }

    /// nil: there is none of that name.
    func queue(_ name: String) throws(Failure) -> BrokerPicture.Queue? {
        guard let found = try find(["queues", virtualHost, name]) else { return nil }
        return BrokerPicture.Queue(
            arguments: Self.texts(found.root["arguments"]),
            policy: Self.texts(found.root["effective_policy_definition"]),
            isPolicySeen: found.root["effective_policy_definition"] != nil,
            policyName: found.root["policy"]?.string ?? "",
            operatorPolicyName: found.root["operator_policy"]?.string ?? "",
            consumerCount: found.root["consumers"]?.int ?? 0,
            readyBytes: found.root["message_bytes_ready"]?.int ?? 0)
    }

    /// nil: there is no such queue, or what its limit comes to is not shown yet.
    func deliveryLimit(ofQueue name: String) throws(Failure) -> DeliveryLimit? {
        guard let version = BrokerVersion(try overview().version), let queue = try queue(name), queue.isPolicySeen
        else {
            return nil
        }
        return DeliveryLimit(queue, version)
    }

    /// Those that lead from an exchange to queues, or to exchanges.
    func bindings(from exchange: String) throws(Failure) -> [Topology.Binding] {
        guard let found = try find(["exchanges", virtualHost, exchange, "bindings", "source"]) else { return [] }
        return found.root.elements.compactMap { binding in
            guard let destination = binding["destination"]?.string,
                let kind = binding["destination_type"]?.string.flatMap({
                    Topology.Binding.DestinationKind(rawValue: $0)
                })
            else { return nil }
            return Topology.Binding(
                destination: destination, kind: kind, exchange: exchange,
                routingKey: binding["routing_key"]?.string ?? "",
                arguments: Self.texts(binding["arguments"]).map { Topology.Argument.text($0, $1) })
        }
    }

    /// What a policy says, as text by key; nil: there is none of that name.
    func policy(_ name: String) throws(Failure) -> [String: String]? {
        guard let found = try find(["policies", virtualHost, name]) else { return nil }
        let members = Self.texts(found.root).filter { Topology.Policy.memberKeys.contains($0.key) }
        return Self.texts(found.root["definition"]).merging(members) { $1 }
    }

    func set(_ policy: Topology.Policy) throws(Failure) {
        var json = JSONWriter()
        json.policyBody(policy)
        _ = try ask(.put, ["policies", virtualHost, policy.name], body: json.bytes)
    }

    /// What there is of a topology, and of queues that its exchanges lead to besides.
    func picture(of topology: Topology) throws(Failure) -> BrokerPicture {
        var picture = BrokerPicture()
        let overview = try overview()
        picture.version = BrokerVersion(overview.version)
        picture.showsStatistics = overview.showsStatistics
        picture.exchangeTypes = overview.exchangeTypes
        for wanted in topology.exchanges {
            guard let exchange = try exchange(wanted.name) else { continue }
            picture.exchanges[wanted.name] = exchange
            picture.bindings += try bindings(from: wanted.name)
        }
        for name in Set(topology.queues.map(\.name) + picture.bindings.compactMap(\.queue)).sorted() {
            if let queue = try queue(name) { picture.queues[name] = queue }
        }
        do throws(Failure) {
            for wanted in picture.version.map({ topology.policies(of: $0) }) ?? [] {
                if let policy = try policy(wanted.name) { picture.policies[wanted.name] = policy }
            }
        } catch {
            // Policies have a tag of their own (https://www.rabbitmq.com/docs/management#permissions).
            guard error.isRefusal else { throw error }
            picture.seesPolicies = false
        }
        return picture
    }

    /// The same once the statistics are new, by which the management shows what policies come to: they are some seconds
    /// old. Asks again for queues with a delivery limit, as long as the policy against it may just have been set.
    ///
    /// - Parameter onWait: called with a sentence for an operator if the wait begins.
    func settledPicture(of topology: Topology, onWait: (String) -> Void) throws(Failure) -> BrokerPicture {
        var picture = try picture(of: topology)
        let clock = ContinuousClock()
        let end = clock.now + .milliseconds(Self.statisticsLagMillisecondsMax)
        if picture.mayShowFormerLimits(of: topology) {
            onWait(
                "waiting up to \(Self.statisticsLagMillisecondsMax / 1000) s for \(place): its statistics may still show the "
                    + "delivery limits before policy "
                    + topology.policies(of: picture.version ?? BrokerVersion(4, 0)).map(\.name).joined(separator: ", "))
        }
        while picture.mayShowFormerLimits(of: topology), clock.now < end {
            usleep(Self.lookAgainMicroseconds)
            for name in picture.unsettledQueues(of: topology) { picture.queues[name] = try queue(name) }
        }
        return picture
    }

    private func find(_ path: [String]) throws(Failure) -> JSONDocument? {
        let response = try ask(.get, path, mayBeMissing: true)
        return response.status == 404 ? nil : try document(response)
    }

    private func ask(
        _ method: HTTPRequest.Method, _ path: [String], body: [UInt8] = [], mayBeMissing: Bool = false
    ) throws(Failure) -> HTTPResponse {
        var request = HTTPRequest(method, base.appending(["api"] + path))
        request.limits = HTTPLimits(
            wholeMillisecondsMax: Self.answerMillisecondsMax, bodyBytesMax: Self.answerBytesMax)
        request.authoritiesPEM = authoritiesPEM
        if !body.isEmpty {
            request.headers = [("Content-Type", "application/json")]
            request.body = body
        }
        let response: HTTPResponse
        do {
            response = try client.send(request)
        } catch {
            throw Failure(message: error.message)
        }
        if response.isSuccess || mayBeMissing && response.status == 404 { return response }
        let user = base.credentials?.user ?? ""
        switch response.status {
        case 401:
            throw Failure(
                message: "\(place): the login of user \(user) is refused, or it has no tag "
                    + (path.first == "policies" ? "policymaker" : "management"), isRefusal: true)
        case 403:
            throw Failure(
                message: "\(place): user \(user) may not \(method == .get ? "see" : "change") this", isRefusal: true)
        default: throw Failure(message: "\(place): it answers \(response.status)")
        }
    }

    private func document(_ response: HTTPResponse) throws(Failure) -> JSONDocument {
        do {
            return try JSONDocument(response.body)
        } catch {
            throw strange
        }
    }

    private var strange: Failure { Failure(message: "\(place): what answers there is not RabbitMQ's management") }

    /// An object's scalars as text; an empty list is how the API writes an empty object.
    private static func texts(_ value: JSONValue?) -> [String: String] {
        guard let value, value.kind == .object else { return [:] }
        var texts: [String: String] = [:]
        for (name, value) in value.members {
            guard let name = name.string else { continue }
            texts[name] = value.string ?? String(decoding: value.sourceBytes, as: UTF8.self)
        }
        return texts
    }
}

/// Where the management API is, and as whom it is asked.
struct ManagementAccess: Sendable {
    let url: HTTPURL
    let virtualHost: String
    /// nil: the machine's.
    let authoritiesPEM: String?

    /// nil when the configuration does not say where it is.
    init?(_ broker: Configuration.Broker) {
        guard let url = broker.management else { return nil }
        self.url = url
        virtualHost = broker.url.virtualHost
        if case .pem(let text) = broker.tls.trust { authoritiesPEM = text } else { authoritiesPEM = nil }
    }

    /// What it shows of a topology.
    func picture(of topology: Topology) async -> Result<BrokerPicture, ManagementAPI.Failure> {
        await ask { api throws(ManagementAPI.Failure) in try api.picture(of: topology) }
    }

    /// What it shows of a topology once its statistics are new.
    ///
    /// - Parameter onWait: called on another thread, with a sentence for an operator, if they are waited for.
    func settledPicture(
        of topology: Topology, onWait: @escaping @Sendable (String) -> Void
    ) async -> Result<BrokerPicture, ManagementAPI.Failure> {
        await ask { api throws(ManagementAPI.Failure) in try api.settledPicture(of: topology, onWait: onWait) }
    }

    /// Sets a policy; what went wrong.
    func set(_ policy: Topology.Policy) async -> ManagementAPI.Failure? {
        let result = await ask { api throws(ManagementAPI.Failure) in try api.set(policy) }
        if case .failure(let failure) = result { return failure }
        return nil
    }

    /// From a thread that this may block.
    func ask<Answer: Sendable>(
        _ question: @escaping @Sendable (ManagementAPI) throws(ManagementAPI.Failure) -> Answer
    ) async -> Result<Answer, ManagementAPI.Failure> {
        await DetachedThread.run { [self] () -> Result<Answer, ManagementAPI.Failure> in
            do throws(ManagementAPI.Failure) {
                return .success(try question(ManagementAPI(self)))
            } catch {
                return .failure(error)
            }
        }
    }
}
