import APNS
import APNSProtocol
import Crypto
import Registrations

/// A valid request to users, read from one delivery.
///
/// The ranges are positions in the body. A child has the bytes of `requestRange`, except for `id`, the target and
/// `scope`.
struct Audience: Sendable {
    /// The distinct users in the order of the request. A secret.
    var users: [String]
    /// Whether the request has the member `users` instead of `user`. A list may have one user.
    var isList: Bool
    /// The push, without a device. Its id is that of the request.
    var push: APNSRequest
    var app: AppDirectory.Index
    var environment: APNSEnvironment
    /// The kind of the tokens to which the push goes.
    var kind: TokenKind
    /// The scope of the tokens: the member `scope`, or `aps.attributes-type`; nil for kinds without a scope.
    var scope: String?
    var route: Route
    /// The request: the body without surrounding white space, or the value of the member `data` of a CloudEvent.
    var requestRange: Range<Int>
    /// The member `user` or `users`, from its key to the end of its value.
    var targetRange: Range<Int>
    /// The member `id`, from its key to the end of its value; nil without the member.
    var idRange: Range<Int>?
    /// The member `scope` with the comma after or before it; nil without the member.
    var scopeRange: Range<Int>?

    var id: UUIDValue { push.id }
}
