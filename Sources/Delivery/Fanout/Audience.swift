import APNS
import APNSProtocol
import Crypto
import Registrations

/// A valid request to users, read from one delivery.
///
/// The ranges are positions in the body. A child has the bytes of `requestRange`, except for `id`, the target and
/// `scope`.
///
/// A class, so that the stages pass a reference instead of copies.
final class Audience: Sendable {
    /// The distinct users in the order of the request. A secret.
    let users: [String]
    /// Whether the request has the member `users` instead of `user`. A list may have one user.
    let isList: Bool
    /// The push, without a device. The id of the push is that of the request.
    let push: APNSRequest
    let app: AppDirectory.Index
    let environment: APNSEnvironment
    /// The kind of the tokens to which the push goes.
    let kind: TokenKind
    /// The scope of the tokens: the member `scope`, or `aps.attributes-type`; nil for kinds without a scope.
    let scope: String?
    let route: Route
    /// The request: the body without surrounding white space, or the value of the member `data` of a CloudEvent.
    let requestRange: Range<Int>
    /// The member `user` or `users`, from its key to the end of its value.
    let targetRange: Range<Int>
    /// The member `id`, from its key to the end of its value; nil without the member.
    let idRange: Range<Int>?
    /// The member `scope` with the comma after or before it; nil without the member.
    let scopeRange: Range<Int>?

    var id: UUIDValue { push.id }

    init(
        users: [String], isList: Bool, push: APNSRequest, app: AppDirectory.Index, environment: APNSEnvironment,
        kind: TokenKind, scope: String?, route: Route, requestRange: Range<Int>, targetRange: Range<Int>,
        idRange: Range<Int>?, scopeRange: Range<Int>?
    ) {
        (self.users, self.isList, self.push) = (users, isList, push)
        (self.app, self.environment, self.kind, self.scope) = (app, environment, kind, scope)
        self.route = route
        (self.requestRange, self.targetRange) = (requestRange, targetRange)
        (self.idRange, self.scopeRange) = (idRange, scopeRange)
    }
}
