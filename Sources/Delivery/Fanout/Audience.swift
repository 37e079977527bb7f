import APNS
import APNSProtocol
import Crypto
import Registrations

/// A valid request to the devices of users, read from one delivery.
///
/// The ranges are positions in the body. A request to one device has the same bytes, except for `id`, the target and
/// `scope`.
struct Audience: Sendable {
    /// The distinct users in the order of the request. A secret.
    var users: [String]
    /// Whether the request has the member `users`, even with one user, instead of `user`.
    var isList: Bool
    /// The push, without a device. Its id is that of the request.
    var push: APNSRequest
    var app: AppDirectory.Index
    var environment: APNSEnvironment
    /// The kind of the tokens to which the push goes.
    var kind: TokenKind
    /// The scope of the tokens: the member `scope`, or `aps.attributes-type`; nil for kinds without a scope.
    var scope: String?
    /// The route of the pushes.
    var route: Route
    /// The request: the whole body without white space around it, or the `data` of a CloudEvent.
    var requestRange: Range<Int>
    /// The member `user` or `users`, from its key to the end of its value.
    var targetRange: Range<Int>
    /// The member `id`, from its key to the end of its value; nil if the request has its id from elsewhere.
    var idRange: Range<Int>?
    /// The member `scope` with the comma before or after it: without these bytes, the request has no scope. nil without
    /// the member.
    var scopeRange: Range<Int>?

    var id: UUIDValue { push.id }
}
