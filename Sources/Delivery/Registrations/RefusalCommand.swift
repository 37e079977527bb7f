import AMQP
import APNSProtocol
import Crypto
import JSON
import Registrations

/// The registration command that a lane publishes after APNs refused a device token. The command is `prune` for an
/// unregistered token, and `suspect` for a token that may be wrong.
///
/// A class, so that a record without a refusal stores only a nil reference.
final class RefusalCommand {
    /// Placeholder for the reason if APNs sent none.
    private static let noReason = "-"

    private let command: RegistrationCommand
    private let app: String
    private let messageID: String

    /// Creates the command for the outcome of a push.
    ///
    /// Returns nil if APNs refused no device token, or if the app, the environment or the parts of the token are
    /// unknown.
    ///
    /// - Parameter parts: A function that returns the kind and the scope of the token; nil if they are unknown.
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

    /// Returns the time of the refusal in UNIX milliseconds. For an unregistered token, this is the timestamp of APNs,
    /// or else the time of the push. A registration after the push thus remains. For any other token, this is the time
    /// of the response.
    private static func timestamp(
        _ state: TokenState, _ answer: FinalOutcome.Answer, _ record: DeliveryRecord
    ) -> Int64 {
        let responseTime = record.endedAtMilliseconds
        guard state == .unregistered else { return responseTime }
        return answer.timestampMilliseconds ?? record.sentAtMilliseconds ?? responseTime
    }

    /// Returns the message that publishes the command. Repeated messages have the same id.
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
    /// Valid lengths of a scope in bytes.
    private static let scopeBytes = 1...128

    let kind: TokenKind
    /// The scope of the token; nil if tokens of the kind have no scope.
    let scope: String?

    /// Creates the parts of a child request from its origin.
    init(_ origin: FanoutOrigin) {
        (kind, scope) = (origin.kind, origin.scope)
    }

    /// Reads the parts from a request. Returns nil if the body is not valid JSON, or if the push type has no kind of
    /// token. Also returns nil if a required scope is missing or has an invalid length.
    init?(of delivery: IncomingMessage, _ limits: JSONLimits) {
        guard let document = try? JSONDocument(delivery.body, limits: limits) else { return nil }
        let request = CloudEvent.request(in: document.root)
        guard let pushType = request["push_type"]?.string.flatMap({ PushType(rawValue: $0) }),
            let kind = TokenKind(pushType, request: request)
        else { return nil }
        self.kind = kind
        scope = kind.scopeRule == .none ? nil : kind.scope(of: request)
        if kind.scopeRule != .none {
            guard let scope, Self.scopeBytes.contains(scope.utf8.count) else { return nil }
        }
    }
}
