import AMQP
import APNSProtocol
import Crypto
import JSON
import Registrations

/// The registration command that a lane publishes after APNs refused a device token: `prune` for an unregistered token,
/// `suspect` for a token that may be wrong.
///
/// A class, so that a record without a refusal stores only an empty reference.
final class RefusalCommand {
    /// The reason in a command if APNs sent none.
    private static let noReason = "-"

    private let command: RegistrationCommand
    private let app: String
    private let messageID: String

    /// Creates the command for the outcome of a push; nil if the outcome concerns no registration.
    ///
    /// A token of a kind with scopes is only found with its scope. Without the scope, there is no command.
    ///
    /// - Parameter parts: The parts of the request that determine the kind and the scope.
    init?(_ finalOutcome: FinalOutcome, _ record: DeliveryRecord, app: String?, parts: () -> TokenParts?) {
        guard let state = finalOutcome.tokenState, state.isRefused, let answer = finalOutcome.answer,
            case .device(let token) = record.target, let app, let environment = record.environment, let parts = parts()
        else { return nil }
        let address = TokenAddress(
            app: app, environment: environment, kind: parts.kind, scope: parts.scope,
            token: String(decoding: token, as: UTF8.self))
        let refusal = APNSRefusal(
            status: answer.status, reason: answer.reason ?? Self.noReason,
            timestamp: Self.timestamp(state, answer, record))
        command = state == .suspect ? .suspect(address, refusal) : .prune(address, refusal)
        (self.app, messageID) = (app, record.messageID)
    }

    /// Returns the time of the refusal. If APNs did not send the time at which the token ended, a registration after
    /// the push must remain.
    private static func timestamp(
        _ state: TokenState, _ answer: FinalOutcome.Answer, _ record: DeliveryRecord
    ) -> Int64 {
        let responseTime = record.endedAtMilliseconds
        guard state == .unregistered else { return responseTime }
        return answer.timestampMilliseconds ?? record.sentAtMilliseconds ?? responseTime
    }

    /// Returns the message to the registrations exchange. A repeat has the same id.
    func message(exchange: String, worker: WorkerIdentity) -> OutgoingMessage {
        let id = UUIDValue(name: "\(command.word.rawValue) \(messageID)", namespace: DeliveryRecord.namespace)
        var message = OutgoingMessage(
            exchange: exchange, routingKey: RoutingKey.registrationCommand(app: app), body: command.body(id: id),
            messageID: id.description)
        message.headers.append(MessageHeaderName.worker, .string(worker.shortName))
        message.carriesUserID = true
        return message
    }
}

/// The kind and scope of the token to which a request goes.
struct TokenParts {
    /// Lengths of a scope, in bytes. No registration has another scope.
    private static let scopeBytes = 1...128

    let kind: TokenKind
    /// nil if tokens of the kind have no scope.
    let scope: String?

    /// Reads a request; nil if its push type has no kind of token, or its scope is unknown.
    ///
    /// The scope is in the payload, in a request to a user, or in the header that a worker wrote into the request to
    /// one of the user's devices.
    init?(of delivery: IncomingMessage, worker: WorkerIdentity, _ limits: JSONLimits) {
        guard let document = try? JSONDocument(delivery.body, limits: limits) else { return nil }
        let request = CloudEvent.request(in: document.root)
        let aps = request["payload"]?["aps"]
        guard let pushType = request["push_type"]?.string.flatMap({ PushType(rawValue: $0) }),
            let kind = TokenKind(pushType, event: aps?["event"]?.string)
        else { return nil }
        self.kind = kind
        switch kind.scopeRule {
        case .none: scope = nil
        case .inPayload: scope = aps?["attributes-type"]?.string
        case .inRequest:
            let header = delivery.properties.header(MessageHeaderName.scope)?.stringValue
            scope = (worker.published(delivery.properties) ? header : nil) ?? request["scope"]?.string
        }
        if kind.scopeRule != .none {
            guard let scope, Self.scopeBytes.contains(scope.utf8.count) else { return nil }
        }
    }
}
