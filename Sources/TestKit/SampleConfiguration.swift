/// A worker configuration for tests that change parts of it.
public enum SampleConfiguration {
    public static let shortest = """
        amqp:
          url: amqp://rabbit
        apns:
          keys:
            - key_id: ABC123DEFG
              team_id: DEF123GHIJ
              key_file: AuthKey.p8
        apps:
          com.example.shop: {}
        """
}
