public import BrokerTopology
import HTTPClient
import JSON

/// A client of RabbitMQ's management API (https://www.rabbitmq.com/docs/management#http-api). The client sends one
/// small request for each object, so the cost does not depend on the broker's other objects.
///
/// Calls block. Only one thread at a time may use a client.
public final class ManagementClient {
    /// The failure of a request, described for an operator.
    public struct Failure: Error, Equatable {
        public let message: String
        /// Whether the server refused the login or the user lacks a permission. The object may exist.
        public let isRefusal: Bool

        public init(message: String, isRefusal: Bool = false) {
            self.message = message
            self.isRefusal = isRefusal
        }
    }

    private static let answerMillisecondsMax = 5_000
    private static let answerBytesMax = 4 << 20

    private let client = HTTPClient()
    private let base: HTTPURL
    private let virtualHost: String
    private let authoritiesPEM: String?

    public init(_ access: ManagementAccess) {
        base = access.url
        virtualHost = access.virtualHost
        authoritiesPEM = access.authoritiesPEM
    }

    var place: String { base.place }

    struct Overview {
        let version: String
        /// The time of the broker's clock, in seconds since 1970; nil if the answer has no valid date.
        let unixSeconds: Int64?
        /// The enabled exchange types; nil if the broker does not show them.
        let exchangeTypes: Set<String>?
        /// Whether statistics are enabled.
        let showsStatistics: Bool
    }

    func overview() throws(Failure) -> Overview {
        let response = try send(.get, ["overview"])
        let root = try document(response).root
        guard let version = root["rabbitmq_version"]?.string else { throw unexpectedAnswer }
        let types = root["exchange_types"]?.elements.filter { $0["enabled"]?.bool != false }.compactMap {
            $0["name"]?.string
        }
        return Overview(
            version: version, unixSeconds: response.header("date").flatMap { HTTPDate.unixSeconds($0) },
            exchangeTypes: types.map { Set($0) }, showsStatistics: root["disable_stats"]?.bool != true)
    }

    /// Returns an exchange; nil if no exchange has this name.
    func exchange(_ name: String) throws(Failure) -> BrokerSnapshot.Exchange? {
        guard let found = try find(["exchanges", virtualHost, name]) else { return nil }
        return BrokerSnapshot.Exchange(
            kind: found.root["type"]?.string ?? "", arguments: Self.texts(found.root["arguments"]))
    }

    /// Returns a queue; nil if no queue has this name.
    func queue(_ name: String) throws(Failure) -> BrokerSnapshot.Queue? {
        guard let found = try find(["queues", virtualHost, name]) else { return nil }
        return BrokerSnapshot.Queue(
            arguments: Self.texts(found.root["arguments"]),
            policy: Self.texts(found.root["effective_policy_definition"]),
            isPolicySeen: found.root["effective_policy_definition"] != nil,
            policyName: found.root["policy"]?.string ?? "",
            operatorPolicyName: found.root["operator_policy"]?.string ?? "",
            consumerCount: found.root["consumers"]?.int ?? 0,
            readyBytes: found.root["message_bytes_ready"]?.int ?? 0)
    }

    /// Returns the delivery limit of a queue. Returns nil if no queue has this name, if the version is unknown, or if
    /// the broker does not show effective policies.
    public func deliveryLimit(ofQueue name: String) throws(Failure) -> DeliveryLimit? {
        guard let version = BrokerVersion(try overview().version), let queue = try queue(name), queue.isPolicySeen
        else {
            return nil
        }
        return DeliveryLimit(queue, version)
    }

    /// Returns bindings from an exchange to queues and exchanges; empty if the exchange is missing.
    public func bindings(from exchange: String) throws(Failure) -> [Topology.Binding] {
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

    /// Returns a policy's definition and members, as text by key; nil if no policy has this name.
    func policy(_ name: String) throws(Failure) -> [String: String]? {
        guard let found = try find(["policies", virtualHost, name]) else { return nil }
        let members = Self.texts(found.root).filter { Topology.Policy.memberKeys.contains($0.key) }
        return Self.texts(found.root["definition"]).merging(members) { $1 }
    }

    func set(_ policy: Topology.Policy) throws(Failure) {
        var json = JSONWriter()
        json.policyBody(policy)
        _ = try send(.put, ["policies", virtualHost, policy.name], body: json.bytes)
    }

    private func find(_ path: [String]) throws(Failure) -> JSONDocument? {
        let response = try send(.get, path, mayBeMissing: true)
        return response.status == 404 ? nil : try document(response)
    }

    private func send(
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
                message: "\(place): login of user \(user) refused, or the user lacks the tag "
                    + (path.first == "policies" ? "policymaker" : "management"), isRefusal: true)
        case 403:
            throw Failure(
                message: "\(place): user \(user) lacks the permission to \(method == .get ? "read" : "change") this "
                    + "object",
                isRefusal: true)
        default: throw Failure(message: "\(place): unexpected HTTP status \(response.status)")
        }
    }

    private func document(_ response: HTTPResponse) throws(Failure) -> JSONDocument {
        do {
            return try JSONDocument(response.body)
        } catch {
            throw unexpectedAnswer
        }
    }

    private var unexpectedAnswer: Failure {
        Failure(message: "\(place): the answer is not from RabbitMQ's management API")
    }

    /// Returns an object's values as text; empty for other JSON, because the API writes an empty object as an empty
    /// list.
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
