import APNSProtocol
import Crypto

/// A request to users that the simulation publishes once or several times.
struct UserRequest {
    let id: UUIDValue
    let users: [SimulatedUser]
    /// Whether the request has the member `users` instead of `user`.
    let isList: Bool
    let payload: [UInt8]
    let body: [UInt8]
    /// The times of all publishes. A producer that receives no confirm publishes the same id and body again.
    let publishedAfterMilliseconds: [Int]

    /// Creates a request.
    ///
    /// - Parameter number: Unique in a run, so that all payloads differ.
    init(
        _ number: Int, id: UUIDValue, to users: [SimulatedUser], isList: Bool, publishedAfterMilliseconds times: [Int]
    ) {
        (self.id, self.users, self.isList, publishedAfterMilliseconds) = (id, users, isList, times)
        let payload = #"{"aps":{"alert":"request \#(number) to users"}}"#
        self.payload = Array(payload.utf8)
        let names = users.map { "\"\($0.name)\"" }.joined(separator: ",")
        let target = isList ? #""users":[\#(names)]"# : #""user":\#(names)"#
        let environment = users[0].environment.rawValue
        body = Array(
            (#"{"id":"\#(id)","app":"\#(users[0].bundleID)","environment":"\#(environment)",\#(target),"#
                + #""push_type":"alert","payload":\#(payload)}"#).utf8)
    }
}
