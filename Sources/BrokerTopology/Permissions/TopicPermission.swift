/// A restriction of a user's permissions for one topic exchange to routing keys. Without a restriction, the permissions
/// cover all keys (https://www.rabbitmq.com/docs/access-control#topic-authorisation).
public struct TopicPermission: Sendable, Equatable {
    public let exchange: String
    /// A regular expression that matches the routing keys of messages that the user may publish.
    public let write: String
    /// A regular expression that matches the routing keys by which the user may bind queues.
    public let read: String
}
