import APNSProtocol

/// What follows the bundle ID in topics.
enum TopicSuffix {
    /// The types with the longest suffix first, so that a topic is taken for all that it says.
    static let mostSpecificFirst = PushType.allCases.sorted {
        $0.topicSuffix.utf8CodeUnitCount > $1.topicSuffix.utf8CodeUnitCount
    }

    /// Whether a topic ends as those of some push type do.
    static func ends(_ topic: UnsafeRawBufferPointer) -> Bool {
        mostSpecificFirst.contains {
            $0.topicSuffix.utf8CodeUnitCount > 0 && $0.bundleIDByteCount(inTopic: topic) != nil
        }
    }
}
